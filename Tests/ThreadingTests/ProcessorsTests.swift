import Testing

@testable import Threading

@Suite("Processors that a process can use")
struct ProcessorsTests {
    @Test(
        "A control group's time bounds them, and a part of one counts as one",
        arguments: [
            ("max 100000", 64), ("200000 100000", 2), ("150000 100000", 2), ("50000 100000", 1), ("6400000 100000", 64),
            ("9900000 100000", 64), ("200000 100000\n", 2),
        ])
    func limit(text: String, processors: Int) {
        #expect(Processors.count(allowed: 64, limit: text) == processors)
    }

    @Test("A limit that cannot be read is none", arguments: ["", "max", "0 100000", "200000 0", "-1 100000", "two 1"])
    func unreadable(text: String) {
        #expect(Processors.count(allowed: 8, limit: text) == 8)
        #expect(Processors.count(allowed: 0, limit: text) == 1)
    }

    @Test("The group's folder is the unified tree's")
    func folder() {
        #expect(Processors.folder("0::/\n") == "")
        #expect(Processors.folder("12:cpu:/old\n0::/system.slice/grantor.service\n") == "/system.slice/grantor.service")
        #expect(Processors.folder("12:cpu:/old\n") == nil)
    }

    @Test("This process has one at least")
    func own() {
        #expect(Processors.usable >= 1)
    }
}
