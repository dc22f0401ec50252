import Contract
import Ledger
import LedgerConformance
import LedgerModel
import MemberTesting
import Testing

@Suite struct LedgerModelTests {
    private let model = LedgerModel(now: Samples.noon)

    private func takeOver(_ connection: ModelConnection, _ generation: Int64) throws {
        let ownership = PartitionOwnership(partition: Samples.partition, generation: Generation(rawValue: generation))
        _ = try connection.takeOver([TakeOver(ownership: ownership, owner: "worker", committed: nil)])
    }

    private func decision(
        _ id: SubmissionID, _ content: Decision.Content, generation: Int64 = 1
    ) -> Decision {
        let submission = Submission(
            claimant: Claimant(
                submissionID: id, userID: "player-1", bundleID: "com.example.game", orderID: nil, traceparent: nil),
            claim: .nothing,
            evidence: .transactionID("1"), origin: Origin(topic: Samples.partition.topic, partition: 3, offset: 1),
            receivedAt: Samples.noon)
        return Decision(
            subject: .submission(submission),
            source: .record(
                PartitionOwnership(partition: Samples.partition, generation: Generation(rawValue: generation))),
            content: content, attempts: 1, decidedAt: Samples.noon, owesCall: true, tellsWaiting: false,
            repeats: .publish,
            doubtsNothingNew: false)
    }

    private func grant(_ id: SubmissionID) -> Decision {
        let granted = GrantablePurchase(.sample("1"), of: Product(id: "gems", type: .consumable, items: []))
        return decision(id, .grant(granted.map { [$0] } ?? [], by: .serverAPI))
    }

    private let failure = Decision.Content.fail(Rejection(.receiptNotAuthentic, "Said so."))

    @Test("Away means that nothing was done; unknown, that it was")
    func faults() throws {
        let connection = model.connection()
        try takeOver(connection, 1)
        model.fault = { $0 == .write ? .away : nil }
        #expect(throws: LedgerError.self) { try connection.write([grant("a")]) }
        #expect(try connection.grants(GrantQuery()).count == 0)
        model.fault = { $0 == .write ? .unknown : nil }
        #expect(throws: LedgerError.self) { try connection.write([grant("a")]) }
        #expect(try connection.grants(GrantQuery()).count == 1)
        model.fault = nil
        #expect(try connection.write([grant("a")]) == [.written(.redelivery, publish: [])])
    }

    @Test("A lost connection stays lost until it is made anew")
    func lost() throws {
        let connection = model.connection()
        model.fault = { _ in .lost }
        #expect(throws: LedgerError.disconnected(detail: "the connection is gone")) { try connection.identity() }
        model.fault = nil
        #expect(throws: LedgerError.disconnected(detail: "the connection is gone")) { try connection.identity() }
        connection.reconnect()
        #expect(try connection.identity() == "model")
    }

    @Test("A ledger that is set back has lost its last writes, and every connection")
    func setBack() throws {
        let connection = model.connection()
        try takeOver(connection, 1)
        let before = ModelTables(copying: model.tables)
        _ = try connection.write([grant("a")])
        model.setBack(to: before)
        #expect(throws: LedgerError.self) { try connection.measure(as: Samples.worker) }
        connection.reconnect()
        #expect(try connection.grants(GrantQuery()).count == 0)
        #expect(try connection.write([grant("a")])[0] == .written(.granted(created: 1), publish: []))
    }

    @Test("Another session may write between two statements, and its rows count")
    func sessions() throws {
        let (first, second) = (model.connection(), model.connection())
        try takeOver(first, 1)
        let thief = grant("b")
        model.beforeInsertion = { _ = try? second.write([thief]) }
        #expect(try first.write([grant("a")]) == [.written(.repeated, publish: [])])
        #expect(try first.grants(GrantQuery()).map(\.grant.submissionID) == ["b"])
    }

    @Test("A holder that is not visible leaves the decision undecided, and nothing written")
    func hidden() throws {
        let connection = model.connection()
        try takeOver(connection, 1)
        _ = try connection.write([grant("a")])
        model.hidesHolders = true
        #expect(try connection.write([grant("b")]) == [.undecided])
        #expect(try connection.submission(SubmissionKey(bundleID: "com.example.game", submissionID: "b")).answer == nil)
        #expect(try connection.write([grant("b")]) == [.written(.repeated, publish: [])])
    }

    @Test("A copy of the tables has each of them")
    func whole() throws {
        let subject = model.subject
        try subject.own()
        var play = RandomPlay(seed: 1)
        for _ in 0..<400 { _ = try play.step(subject) }
        let filled = Members.differing(model.tables, ModelTables(id: "another")).map { $0.prefix { $0 != "." } }
        #expect(Set(filled.map(String.init)) == Set(Members.named(model.tables).keys), "a table has no row")
        #expect(Members.differing(model.tables, ModelTables(copying: model.tables)) == [])
    }

    @Test("A copy of the tables is not changed by later writes")
    func values() throws {
        let connection = model.connection()
        try takeOver(connection, 1)
        let before = ModelTables(copying: model.tables)
        _ = try connection.write([decision("a", failure)])
        #expect(try connection.submissions(SubmissionQuery(state: .failed)).count == 1)
        model.setBack(to: before)
        #expect(try connection.submissions(SubmissionQuery(state: .failed)).count == 0)
    }
}
