import Contract
import Testing

@testable import AppStore

/// Receipts that are judged by their signature alone.
extension LocalCheckerTests {
    @Test(
        "grants the purchases of a signed receipt, in its environment, as verified locally",
        arguments: [("Production", Environment.production), ("ProductionSandbox", .sandbox)])
    func local(origin: String, environment: Environment) throws {
        let evidence = try receipt(origin: origin, entry(changing: [1701: ReceiptBuilder.integer(3)]))
        guard case .verified(let purchases, .local) = try check(evidence, receipts: .local).verdict else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.transactionID) == ["1001"])
        #expect(purchases.map(\.purchase.environment) == [environment])
        #expect(purchases.map(\.items) == [[Item(item: "gems", quantity: 300)]])
    }

    @Test(
        "asks about a receipt of one environment there alone: in the other the id may be another customer's",
        arguments: [("Production", "production"), ("ProductionSandbox", "sandbox"), ("Sandbox", "sandbox")])
    func environmentAlone(origin: String, environment: String) throws {
        let run = try check(
            receipt(origin: origin, entry()), receipts: .serverAPI, hasKey: true, replies: [ServerAPIScript.notFound])
        #expect(run.call == "\(environment) /inApps/v2/history/1001?sort=DESCENDING")
        #expect(run.verdict == .retry(.noLongerFound, notBefore: nil))
    }

    @Test("asks about a receipt of production's in production alone, where an app rejects the sandbox, too")
    func environmentOfReceipt() throws {
        let app = Fixture.app(sandbox: .reject, accountToken: .required)
        let run = try check(
            receipt(entry()), app: app, receipts: .local, hasKey: true, replies: [ServerAPIScript.notFound])
        #expect(run.call == "production /inApps/v2/history/1001?sort=DESCENDING")
        #expect(run.verdict == .retry(.noLongerFound, notBefore: nil), "Apple signed the receipt")
    }

    @Test("asks the App Store Server API, where it can, about a product whose type the receipt seems to contradict")
    func contradicted() throws {
        let evidence = try receipt(entry(product: "vip"))
        #expect(try check(evidence, receipts: .local).verdict?.hold == .productContradicted)
        #expect(
            try check(evidence, receipts: .local, hasKey: true, replies: [ServerAPIScript.notFound]).verdict?.hold
                == .productContradicted, "the receipt's word is the better one")
        #expect(
            try check(evidence, receipts: .local, hasKey: true).call
                == "production /inApps/v2/history/1001?sort=DESCENDING")
    }

    @Test("takes the id of an original for what was restored from it")
    func original() throws {
        let restored = try receipt(entry("21", product: "level", changing: [1705: ReceiptBuilder.utf8("20")]))
        #expect(try check(restored, receipts: .local, transactionID: "20").verdict?.granted == ["21"])
        #expect(try check(restored, transactionID: "20", bySignature: true).verdict?.granted == ["21"])
    }

    @Test("holds a signed receipt of nobody or of nowhere")
    func nobodys() throws {
        #expect(try check(receipt(origin: "Moon", entry()), receipts: .local).verdict?.hold == .unknownAnswer)
        #expect(try check(receipt(bundleID: "", entry()), receipts: .local).verdict?.hold == .incompleteAnswer)
    }

    @Test("refuses a purchase that the receipt does not hold, unless the App Store Server API can be asked")
    func notThere() throws {
        let evidence = try receipt(entry())
        #expect(
            try check(evidence, receipts: .local, transactionID: "7").verdict?.reason == .transactionNotFound)
        #expect(
            try check(evidence, receipts: .local, hasKey: true, transactionID: "7").call
                == "production /inApps/v2/history/1001?sort=DESCENDING")
        #expect(try check(receipt(), receipts: .local, hasKey: true).verdict?.reason == .transactionNotFound)
    }

    @Test("looks up the account token that a receipt cannot say, or refuses, where the app requires one")
    func localToken() throws {
        let required = Fixture.app(accountToken: .required)
        let evidence = try receipt(entry())
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        #expect(
            try check(evidence, app: required, receipts: .local, token: token).verdict?.reason == .accountTokenMissing)
        #expect(
            try check(evidence, app: required, receipts: .local, hasKey: true, transactionID: "1001", token: token).call
                == "production /inApps/v1/transactions/1001")
        #expect(try check(evidence, receipts: .local, token: token).verdict?.granted == ["1001"])
    }

    @Test("refuses a cancelled purchase, even if it stands there again as if it were not")
    func cancelled() throws {
        let cancelled = entry(changing: [1712: ReceiptBuilder.ia5("2026-11-21T05:00:00Z")])
        for evidence in [try receipt(cancelled), try receipt(entry(), cancelled), try receipt(cancelled, entry())] {
            #expect(try check(evidence, receipts: .local).verdict?.reason == .transactionRevoked)
        }
        #expect(try check(receipt(entry(), entry()), receipts: .local).verdict?.granted == ["1001"])
        let undated = entry(changing: [1712: ReceiptBuilder.ia5("soon")])
        for evidence in [try receipt(entry(), undated), try receipt(undated, entry())] {
            #expect(try check(evidence, receipts: .local).verdict?.hold == .incompleteAnswer)
            let claimed = try check(evidence, receipts: .local, transactionID: "1001")
            #expect(claimed.verdict?.hold == .incompleteAnswer)
        }
    }

    private static let unreadable: [[Int: [UInt8]?]] = [
        [1703: nil], [1705: nil], [1702: nil], [1704: nil], [1704: ReceiptBuilder.ia5("soon")],
        [1703: ReceiptBuilder.utf8("../../x?y=1")], [1708: ReceiptBuilder.ia5("soon")],
        [1712: ReceiptBuilder.ia5("soon")], [1712: ReceiptBuilder.ia5("1970-01-01T00:00:00Z")],
        [1708: ReceiptBuilder.ia5("1970-01-01T00:00:00Z")], [1704: ReceiptBuilder.ia5("1970-01-01T00:00:00Z")],
        [1712: ReceiptBuilder.integer(1_795_237_153)],
        [1701: ReceiptBuilder.utf8("1")], [1701: ReceiptBuilder.tlv(0x02, [UInt8](repeating: 1, count: 9))],
        [1711: ReceiptBuilder.utf8("72")],
    ]

    @Test("holds a purchase in an unknown form, also beside one that could be granted", arguments: unreadable.indices)
    func unreadablePurchase(index: Int) throws {
        let broken = entry("7", changing: Self.unreadable[index])
        #expect(try check(receipt(broken), receipts: .local).verdict?.hold == .incompleteAnswer)
        let both = try receipt(broken, entry())
        #expect(try check(both, receipts: .local).verdict?.hold == .incompleteAnswer)
        #expect(try check(both, receipts: .local, transactionID: "1001").verdict?.granted == ["1001"])
    }

    // MARK: While verifyReceipt does not answer

    @Test("grants by the signature while verifyReceipt does not answer, and asks where the signature says no")
    func bySignature() throws {
        #expect(try check(receipt(entry()), bySignature: true).verdict?.granted == ["1001"])
        let asked = "production passwordfirst"
        #expect(try check(unsigned(entry()), bySignature: true).call == asked)
        // The purchase may be in Apple's reply, or be revoked by now.
        #expect(try check(receipt(entry()), transactionID: "7", bySignature: true).call == asked)
        let cancelled = entry(changing: [1712: ReceiptBuilder.ia5("2026-11-21T05:00:00Z")])
        #expect(try check(receipt(cancelled), bySignature: true).call == asked)
        let required = Fixture.app(accountToken: .required)
        #expect(try check(receipt(entry()), app: required, bySignature: true).call == asked)
        #expect(try check(.receipt(base64: "!"), bySignature: true).verdict?.reason == .receiptMalformed)
        #expect(try check(transaction(), bySignature: true).verdict?.granted.count == 1)
    }
}
