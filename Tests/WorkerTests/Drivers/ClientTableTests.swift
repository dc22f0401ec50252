import Testing

@testable import Worker

@Suite("Clients of inventory services")
struct ClientTableTests {
    private var table = ClientTable<Int>()

    /// Sends calls that the client takes.
    private mutating func send(_ calls: Int, _ authorities: String?) {
        let isSent = table.send(calls, authorities) { _ in true }
        #expect(isSent)
    }

    @Test("stay while the apps file needs them, and go with their last call once it does not")
    mutating func letGo() {
        var gone: [Int?] = [table.need(["a.pem", nil]).first]
        table.add(1, for: "a.pem")
        table.add(2, for: nil)
        send(3, "a.pem")
        send(1, nil)
        gone.append(table.ended(1, nil))
        #expect(table[nil] == 2, "it is needed, and may have no call")
        gone.append(table.need([nil]).first)
        gone.append(table.ended(2, "a.pem"))
        #expect(gone == [nil, nil, nil, nil] && table["a.pem"] == 1)
        let last = table.ended(1, "a.pem")
        #expect(last == 1 && table["a.pem"] == nil && table[nil] == 2)
    }

    @Test("go at once if they have no call when the apps file changes")
    mutating func idle() {
        _ = table.need(["a.pem"])
        table.add(1, for: "a.pem")
        let gone = table.need([])
        #expect(gone == [1] && table["a.pem"] == nil)
    }

    @Test("are made for calls under a former apps file, too, and go with these")
    mutating func late() {
        _ = table.need([])
        table.add(1, for: "a.pem")
        send(1, "a.pem")
        #expect(table["a.pem"] == 1)
        let gone = table.ended(1, "a.pem")
        #expect(gone == 1)
    }

    @Test("count the calls that they take, and no others: these have no end")
    mutating func refused() {
        _ = table.need(["a.pem"])
        var isSent = [table.send(1, "a.pem") { _ in true }]
        table.add(1, for: "a.pem")
        send(1, "a.pem")
        isSent.append(table.send(5, "a.pem") { _ in false })
        #expect(isSent == [false, false])
        _ = table.need([])
        let gone = table.ended(1, "a.pem")
        #expect(gone == 1)
    }

    @Test("have the calls of the one that they take the place of")
    mutating func replaced() {
        _ = table.need(["a.pem"])
        table.add(1, for: "a.pem")
        send(2, "a.pem")
        table.add(3, for: "a.pem")
        _ = table.need([])
        let gone = [table.ended(1, "a.pem"), table.ended(1, "a.pem")]
        #expect(gone == [nil, 3])
    }
}
