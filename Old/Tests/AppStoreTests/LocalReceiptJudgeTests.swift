import Purchases
import Testing

@testable import AppStore

@Suite("Local receipt judge")
struct LocalReceiptJudgeTests {
    private static let day = Fixture.day

    private func receipt(
        origin: String = "Production", bundleID: String = "com.example.game",
        _ purchases: [ReceiptBuilder.Attribute]...
    ) throws -> AppReceipt {
        try AppReceipt(der: ReceiptBuilder.receipt(bundleID: bundleID, origin: origin, purchases: purchases).der)
    }

    /// A purchase as Apple writes it, with attributes replaced, or taken out where the value is nil.
    private func entry(
        _ id: String = "1001", product: String = "gems", changing changes: [Int: [UInt8]?] = [:]
    ) -> [ReceiptBuilder.Attribute] {
        let usual = [
            1701: ReceiptBuilder.integer(1), 1702: ReceiptBuilder.utf8(product), 1703: ReceiptBuilder.utf8(id),
            1704: ReceiptBuilder.ia5("2026-11-21T04:59:02Z"), 1705: ReceiptBuilder.utf8(id),
            1706: ReceiptBuilder.ia5("2026-11-21T04:59:02Z"), 1708: ReceiptBuilder.ia5(""),
            1711: ReceiptBuilder.integer(0), 1712: ReceiptBuilder.ia5(""),
        ]
        return usual.sorted { $0.key < $1.key }.compactMap { type, value in
            (changes[type] ?? value).map { (type, $0) }
        }
    }

    private func period(_ id: String, line: Int, until end: Timestamp) -> [ReceiptBuilder.Attribute] {
        entry(
            id, product: "vip",
            changing: [
                1708: ReceiptBuilder.ia5(end.rfc3339.replacing(".000Z", with: "Z")), 1711: ReceiptBuilder.integer(line),
            ])
    }

    private func verdict(
        _ receipt: AppReceipt, _ submission: Submission = Fixture.submission(), app: App = Fixture.app()
    ) -> Verdict {
        LocalReceiptJudge(app: app, submission: submission, receivedAt: Fixture.now).verdict(on: receipt)
    }

    @Test(
        "grants what the receipt holds, in its environment, as verified locally",
        arguments: [("Production", Environment.production), ("ProductionSandbox", .sandbox)])
    func granted(origin: String, environment: Environment) throws {
        let purchase = entry("1001", changing: [1701: ReceiptBuilder.integer(3)])
        guard case .verified(let purchases, .local) = verdict(try receipt(origin: origin, purchase)) else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.transactionID) == ["1001"])
        #expect(purchases.map(\.purchase.environment) == [environment])
        #expect(purchases.map(\.purchase.ownership) == [.purchased])
        #expect(purchases.map(\.items) == [[Item(item: "gems", quantity: 300)]])
    }

    @Test("another app's receipt and Xcode's are refused; one of nobody or nowhere waits for a person")
    func whose() throws {
        #expect(verdict(try receipt(bundleID: "com.example.clone", entry())).reason == .bundleMismatch)
        #expect(verdict(try receipt(bundleID: "com.example.GAME", entry())).reason == .bundleMismatch)
        #expect(verdict(try receipt(origin: "Xcode", entry())).reason == .environmentNotAllowed)
        #expect(verdict(try receipt(origin: "Moon", entry())).hold == .unknownAnswer)
        #expect(verdict(try receipt(origin: "", entry())).hold == .unknownAnswer)
        #expect(verdict(try receipt(bundleID: "", entry())).hold == .incompleteAnswer)
    }

    @Test("a sandbox receipt where sandbox is not granted")
    func sandbox() throws {
        let receipt = try receipt(origin: "ProductionSandbox", entry())
        #expect(verdict(receipt, app: Fixture.app(sandbox: .reject)).reason == .environmentNotAllowed)
        #expect(verdict(receipt, app: Fixture.app(sandbox: .users(["player-1"]))).granted == ["1001"])
    }

    @Test("what the receipt does not hold it will never hold, so nothing is waited for")
    func notThere() throws {
        let claims = [Fixture.submission(transactionID: "7"), Fixture.submission(productID: "level")]
        for claim in claims {
            #expect(verdict(try receipt(entry()), claim).reason == .transactionNotFound)
        }
        #expect(verdict(try receipt()).reason == .transactionNotFound)
    }

    @Test("an old purchase claimed as new grants that one alone, and a cheap one is not an expensive one")
    func claims() throws {
        let receipt = try receipt(entry("1001"), entry("1002"), entry("1003", product: "level"))
        #expect(verdict(receipt, Fixture.submission(transactionID: "1001")).granted == ["1001"])
        #expect(verdict(receipt, Fixture.submission(productID: "level")).granted == ["1003"])
        #expect(
            verdict(receipt, Fixture.submission(transactionID: "1001", productID: "level")).reason == .productMismatch)
        #expect(verdict(receipt).granted == ["1001", "1002", "1003"])
    }

    @Test("a subscription's past is not granted again, its current period is")
    func periods() throws {
        let past = period("1", line: 71, until: Fixture.now.advanced(by: .zero - Self.day))
        let current = period("2", line: 72, until: Fixture.now.advanced(by: Self.day))
        guard case .verified(let purchases, _) = verdict(try receipt(current, past)) else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.webOrderLineItemID) == ["72"])
        #expect(verdict(try receipt(past)).reason == .subscriptionExpired)
    }

    @Test("a cancelled purchase is refused, even if it stands there again as if it were not")
    func cancelled() throws {
        let cancelled = entry(changing: [1712: ReceiptBuilder.ia5("2026-11-21T05:00:00Z")])
        #expect(verdict(try receipt(cancelled)).reason == .transactionRevoked)
        #expect(verdict(try receipt(entry(), cancelled)).reason == .transactionRevoked)
        #expect(verdict(try receipt(cancelled, entry())).reason == .transactionRevoked)
        #expect(verdict(try receipt(entry(), entry())).granted == ["1001"])
    }

    @Test("quantities that StoreKit does not sell", arguments: [0, 11, 1 << 40])
    func quantities(quantity: Int) throws {
        let purchase = entry(changing: [1701: ReceiptBuilder.integer(quantity)])
        #expect(verdict(try receipt(purchase)).reason == .quantityOutOfRange)
    }

    @Test("what a grant depends on and cannot be read is nobody's fault", arguments: 0..<12)
    func unreadable(index: Int) throws {
        let changes: [[Int: [UInt8]?]] = [
            [1703: nil], [1705: nil], [1702: nil], [1704: nil], [1704: ReceiptBuilder.ia5("soon")],
            [1703: ReceiptBuilder.utf8("../../x?y=1")], [1708: ReceiptBuilder.ia5("soon")],
            [1712: ReceiptBuilder.ia5("soon")], [1712: ReceiptBuilder.integer(1_795_237_153)],
            [1701: ReceiptBuilder.utf8("1")], [1701: ReceiptBuilder.tlv(0x02, [UInt8](repeating: 1, count: 9))],
            [1711: ReceiptBuilder.utf8("72")],
        ]
        let broken = entry("7", changing: changes[index])
        #expect(verdict(try receipt(broken)).hold == .incompleteAnswer)
        let both = try receipt(broken, entry())
        #expect(verdict(both, Fixture.submission(transactionID: "1001")).granted == ["1001"])
        #expect(verdict(both, Fixture.submission(productID: "gems")).granted == ["1001"])
    }

    @Test("a claimed purchase may be the one that could not be read")
    func candidates() throws {
        let nameless = entry(changing: [1703: nil])
        let other = entry("8", product: "level", changing: [1704: nil])
        #expect(verdict(try receipt(nameless), Fixture.submission(transactionID: "7")).hold == .incompleteAnswer)
        #expect(verdict(try receipt(other), Fixture.submission(transactionID: "7")).reason == .transactionNotFound)
        #expect(verdict(try receipt(other), Fixture.submission(productID: "gems")).reason == .transactionNotFound)
        #expect(verdict(try receipt(other), Fixture.submission(productID: "level")).hold == .incompleteAnswer)
        var builder = ReceiptBuilder.receipt()
        builder.attributes.append((17, [0xff]))
        #expect(verdict(try AppReceipt(der: builder.der)).hold == .incompleteAnswer)
    }
}
