import Contract
import Testing

@testable import AppStoreSimulator

struct TransactionTableTests {
    private let app: BundleID = "com.example.game"

    @Test("A transaction is known in its app and environment only")
    func known() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("7"), .sandbox)))
        #expect(table.transaction("7", of: app, in: .sandbox, now: now) != nil)
        #expect(table.transaction("7", of: app, in: .production, now: now) == nil)
        #expect(table.transaction("7", of: "com.example.other", in: .sandbox, now: now) == nil)
        #expect(table.transaction("8", of: app, in: .sandbox, now: now) == nil)
    }

    @Test("A transaction appears after so many calls")
    func afterCalls() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("7")), appearance: .afterCalls(count: 2)))
        let found = (0..<4).map { _ in table.transaction("7", of: app, in: .production, now: now) != nil }
        #expect(found == [false, false, true, true])
    }

    @Test("A transaction appears at its moment")
    func atMoment() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("7")), appearance: .from(milliseconds: now.milliseconds)))
        let before = Timestamp(milliseconds: now.milliseconds - 1)
        #expect(table.transaction("7", of: app, in: .production, now: before) == nil)
        #expect(table.transaction("7", of: app, in: .production, now: now) != nil)
    }

    @Test("A history is a customer's, in order of change")
    func histories() throws {
        var table = TransactionTable()
        for id in ["3", "1", "2"] { try table.register(Registration(.sample(.gems(.init(id)), customer: "c"))) }
        try table.register(Registration(.sample(.gems("9"), customer: "d")))
        #expect(history("1", in: &table) == ["3", "1", "2"])
        #expect(table.revoke("3", in: .production, at: now, reason: "1") == true)
        #expect(history("2", in: &table) == ["1", "2", "3"])
        #expect(history("9", in: &table) == ["9"])
        #expect(history("8", in: &table) == nil)
    }

    @Test("A history is found by the original transaction")
    func byOriginal() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.month("2", original: "1", endsInDays: 3))))
        #expect(history("1", in: &table) == ["2"])
        #expect(table.transaction("1", of: app, in: .production, now: now) == nil)
    }

    @Test("A history lacks what has not appeared")
    func absent() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("1"), customer: "c")))
        try table.register(Registration(.sample(.gems("2"), customer: "c"), appearance: .afterCalls(count: 1)))
        #expect(history("1", in: &table) == ["1"])
        #expect(history("2", in: &table) == nil)
        #expect(history("2", in: &table) == ["1", "2"])
    }

    @Test("A transaction registered again is replaced")
    func replaced() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("1"), customer: "c")))
        try table.register(Registration(.sample(.gems("1"), customer: "d")))
        try table.register(Registration(.sample(.gems("2"), customer: "c")))
        #expect(history("1", in: &table) == ["1"])
        #expect(history("2", in: &table) == ["2"])
    }

    @Test("An original transaction leads to those that still name it")
    func original() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.month("2", original: "1", endsInDays: 3), customer: "c")))
        try table.register(Registration(.sample(.month("3", original: "1", endsInDays: 3), customer: "d")))
        try table.register(Registration(.sample(.month("2", original: "9", endsInDays: 3), customer: "c")))
        #expect(history("1", in: &table) == ["3"])
        #expect(history("9", in: &table) == ["2"])
        try table.register(Registration(.sample(.month("3", original: "9", endsInDays: 3), customer: "c")))
        #expect(history("1", in: &table) == nil)
        #expect(history("9", in: &table) == ["2", "3"])
    }

    @Test("A refund is kept")
    func refund() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("1"))))
        #expect(table.revoke("1", in: .production, at: now, reason: "1") == true)
        let purchase = table.transaction("1", of: app, in: .production, now: now)?.registration.transaction.purchase
        #expect(purchase?.cancelledAt == now)
        #expect(purchase?.cancellationReason == "1")
        #expect(table.revoke("1", in: .sandbox, at: now, reason: "1") == false)
    }

    @Test("A customer has a limit")
    func limit() throws {
        var table = TransactionTable()
        for number in 0..<TransactionTable.customerLimit {
            try table.register(Registration(.sample(.gems(.init("\(number)")), customer: "c")))
        }
        #expect(throws: TransactionTable.Full.customer(limit: TransactionTable.customerLimit)) {
            try table.register(Registration(.sample(.gems("more"), customer: "c")))
        }
        #expect(throws: Never.self) { try table.register(Registration(.sample(.gems("0"), customer: "c"))) }
        table.clear()
        #expect(table.transaction("0", of: app, in: .production, now: now) == nil)
    }

    private func history(_ id: TransactionID, in table: inout TransactionTable) -> [String]? {
        table.history(id, of: app, in: .production, now: now)?
            .map(\.registration.transaction.purchase.transactionID.rawValue)
    }
}
