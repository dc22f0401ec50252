import Contract
import Testing

@testable import AppStoreSimulator

struct HistoryQueryTests {
    @Test(
        "Pages of twenty show everything once",
        arguments: [("", "0"), ("sort=ASCENDING&", "0"), ("sort=DESCENDING&", "44")])
    func pages(query: String, first: String) throws {
        let history = try history(45)
        var bookmark = ""
        var seen: [String] = []
        var sizes: [Int] = []
        var more: [Bool] = []
        for _ in 0..<3 {
            let page = try page(query + bookmark, of: history)
            seen += page.ids
            sizes.append(page.ids.count)
            more.append(page.hasMore)
            bookmark = "revision=\(page.bookmark)"
        }
        #expect(sizes == [20, 20, 5])
        #expect(more == [true, true, false])
        #expect(seen.first == first)
        #expect(Set(seen).count == 45)
    }

    @Test("A page behind the last is empty")
    func behindLast() throws {
        let history = try history(1)
        let last = try page("", of: history)
        let behind = try page("revision=\(last.bookmark)", of: history)
        #expect(behind.ids.isEmpty)
        #expect(!behind.hasMore)
        #expect(behind.bookmark == last.bookmark)
    }

    @Test(
        "Filters leave the rest out",
        arguments: [
            ("productId=com.example.game.vip", ["1"]), ("productType=AUTO_RENEWABLE", ["1"]),
            ("productType=AUTO_RENEWABLE&productType=CONSUMABLE", ["0", "1", "2"]), ("revoked=true", ["2"]),
            ("revoked=false", ["0", "1"]), ("inAppOwnershipType=FAMILY_SHARED", []),
            ("startDate=\(now.milliseconds - day)", ["0", "2"]), ("endDate=\(now.milliseconds - day)", ["1"]),
        ])
    func filters(query: String, ids: [String]) throws {
        var table = TransactionTable()
        try table.register(Registration(.sample(.gems("0"), customer: "c")))
        try table.register(Registration(.sample(.month("1", original: "1", endsInDays: 3), customer: "c")))
        try table.register(Registration(.sample(.gems("2"), customer: "c")))
        #expect(table.revoke("2", in: .production, at: now, reason: "0") == true)
        let history = table.history("0", of: "com.example.game", in: .production, now: now)
        #expect(try page(query, of: #require(history)).ids == ids)
    }

    @Test(
        "Bad parameters have their error",
        arguments: [
            ("sort=UP", ServerAPIError.invalidSort), ("revision=!", .invalidRequestRevision),
            ("revision=eDc", .invalidRequestRevision), ("revision=YXg", .invalidRequestRevision),
            ("revision=ZDc", .invalidRequestRevision), ("startDate=today", .invalidStartDate),
            ("endDate=x", .invalidEndDate), ("startDate=2&endDate=1", .startDateAfterEndDate),
            ("productType=GIFT", .invalidProductType), ("inAppOwnershipType=MINE", .invalidOwnership),
            ("revoked=perhaps", .invalidRevoked),
        ])
    func badParameters(query: String, error: ServerAPIError) {
        #expect(throws: error) { try HistoryQuery(QueryItems(query)) }
    }

    private func history(_ count: Int) throws -> [TransactionTable.Entry] {
        var table = TransactionTable()
        for number in 0..<count { try table.register(Registration(.sample(.gems(.init("\(number)")), customer: "c"))) }
        return table.history("0", of: "com.example.game", in: .production, now: now) ?? []
    }

    private func page(
        _ query: String, of history: [TransactionTable.Entry]
    ) throws -> (ids: [String], bookmark: String, hasMore: Bool) {
        let page = try HistoryQuery(QueryItems(query)).page(of: history)
        let ids = page.entries.map { $0.registration.transaction.purchase.transactionID.rawValue }
        return (ids, page.bookmark.text, page.hasMore)
    }
}
