import Contract
import Testing

@testable import AppStoreSimulator

struct TransactionTableTests {
    private let app: BundleID = "com.example.game"

    @Test func aTransactionIsKnownInItsAppAndEnvironmentOnly() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("7"), .sandbox)))
        #expect(table.transaction("7", of: app, in: .sandbox, now: now) != nil)
        #expect(table.transaction("7", of: app, in: .production, now: now) == nil)
        #expect(table.transaction("7", of: "com.example.other", in: .sandbox, now: now) == nil)
        #expect(table.transaction("8", of: app, in: .sandbox, now: now) == nil)
    }

    @Test func aTransactionAppearsAfterSoManyCalls() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("7")), appearance: .afterCalls(count: 2)))
        let found = (0..<4).map { _ in table.transaction("7", of: app, in: .production, now: now) != nil }
        #expect(found == [false, false, true, true])
    }

    @Test func aTransactionAppearsAtItsMoment() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("7")), appearance: .from(milliseconds: now.milliseconds)))
        let before = Timestamp(milliseconds: now.milliseconds - 1)
        #expect(table.transaction("7", of: app, in: .production, now: before) == nil)
        #expect(table.transaction("7", of: app, in: .production, now: now) != nil)
    }

    @Test func aHistoryIsACustomersInOrderOfChange() throws {
        var table = TransactionTable()
        for id in ["3", "1", "2"] { try table.register(Registration(.sample(.gems(.init(id)), customer: "c"))) }
        try table.register(Registration(.sample(.gems("9"), customer: "d")))
        #expect(history("1", in: &table) == ["3", "1", "2"])
        #expect(table.revoke("3", in: .production, at: now, reason: "1") == true)
        #expect(history("2", in: &table) == ["1", "2", "3"])
        #expect(history("9", in: &table) == ["9"])
        #expect(history("8", in: &table) == nil)
    }

    @Test func aHistoryIsFoundByTheOriginalTransaction() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.month("2", original: "1", endsInDays: 3))))
        #expect(history("1", in: &table) == ["2"])
        #expect(table.transaction("1", of: app, in: .production, now: now) == nil)
    }

    @Test func aHistoryLacksWhatHasNotAppeared() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("1"), customer: "c")))
        try table.register(Registration(.sample(.gems("2"), customer: "c"), appearance: .afterCalls(count: 1)))
        #expect(history("1", in: &table) == ["1"])
        #expect(history("2", in: &table) == nil)
        #expect(history("2", in: &table) == ["1", "2"])
    }

    @Test func aTransactionRegisteredAgainIsReplaced() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("1"), customer: "c")))
        try table.register(Registration(.sample(.gems("1"), customer: "d")))
        try table.register(Registration(.sample(.gems("2"), customer: "c")))
        #expect(history("1", in: &table) == ["1"])
        #expect(history("2", in: &table) == ["2"])
    }

    @Test func anOriginalTransactionLeadsToThoseThatStillNameIt() throws {
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

    @Test func aRefundIsKept() throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("1"))))
        #expect(table.revoke("1", in: .production, at: now, reason: "1") == true)
        let purchase = table.transaction("1", of: app, in: .production, now: now)?.registration.transaction.purchase
        #expect(purchase?.cancelledAt == now)
        #expect(purchase?.cancellationReason == "1")
        #expect(table.revoke("1", in: .sandbox, at: now, reason: "1") == false)
    }

    @Test func aCustomerHasALimit() throws {
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
