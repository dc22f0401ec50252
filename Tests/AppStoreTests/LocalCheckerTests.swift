import Contract
import Cryptography
import Testing

@testable import AppStore

@Suite("Local check")
struct LocalCheckerTests {
    private static let receiptSigning = Result { try ReceiptSigning.p256() }

    /// The result of the check, with the first calls of a question.
    struct Checked {
        var verdict: Verdict?
        var call: String?
        /// The purchase whose grant answers the submission.
        var lookUp: TransactionID?
    }

    func check(
        _ evidence: Evidence, app: App = Fixture.app(), receipts: ReceiptMethod = .verifyReceipt, hasKey: Bool = false,
        confirmsOlderThan: Duration? = nil, transactionID: TransactionID? = nil, productID: ProductID? = nil,
        token: String? = nil, orderID: OrderID? = "order-1", at now: Timestamp = Fixture.now, isRow: Bool = false,
        bySignature: Bool = false,
        known: Set<BundleID> = [], replies: [AppStoreReply] = []
    ) throws -> Checked {
        let rules = try QuestionScript.rules(
            app, receipts: receipts, hasKey: hasKey, confirmsOlderThan: confirmsOlderThan)
        let verifiers = SignatureVerifiers(roots: try roots(of: evidence))
        let checker = LocalChecker(apps: [rules], verifiers: verifiers, known: known)
        var submission = Fixture.submission(
            transactionID: transactionID, productID: productID, token: token, orderID: orderID, evidence: evidence)
        let outcome =
            bySignature
            ? checker.checkBySignature(submission, at: now) : checker.check(&submission, isRow: isRow, at: now)
        switch outcome {
        case .concluded(let verdict): return Checked(verdict: verdict)
        case .ask(let question):
            let run = try QuestionScript(question, replies)
            return Checked(verdict: run.verdict, call: run.calls.first, lookUp: question.lookedUpTransaction)
        }
    }

    private func roots(of evidence: Evidence) throws -> TrustedRoots {
        guard case .receipt = evidence else { return try SignedToken.chain.roots() }
        return try Self.receiptSigning.get().roots
    }

    /// A receipt that Apple signed.
    func receipt(
        origin: String = "Production", bundleID: String = "com.example.game",
        _ purchases: [ReceiptBuilder.Attribute]...
    ) throws -> Evidence {
        try receipt(origin: origin, bundleID: bundleID, of: purchases)
    }

    func receipt(
        origin: String = "Production", bundleID: String = "com.example.game", of purchases: [[ReceiptBuilder.Attribute]]
    ) throws -> Evidence {
        var signing = try Self.receiptSigning.get()
        signing.builder = ReceiptBuilder.receipt(bundleID: bundleID, origin: origin, purchases: purchases)
        return .receipt(base64: EvidenceText(SignedToken.base64(try signing.der())))
    }

    /// The same form without a signature.
    func unsigned(
        origin: String = "Production", bundleID: String = "com.example.game",
        _ purchases: [ReceiptBuilder.Attribute]...
    ) -> Evidence {
        let builder = ReceiptBuilder.receipt(bundleID: bundleID, origin: origin, purchases: purchases)
        return .receipt(base64: EvidenceText(SignedToken.base64(builder.der)))
    }

    /// A purchase as Apple writes it, with attributes replaced, or taken out where the value is nil.
    func entry(
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

    func transaction(_ changes: [String: String?] = [:]) throws -> Evidence {
        .signedTransaction(EvidenceText(try SignedToken(changes).text()))
    }

    // MARK: Apps

    @Test("rejects a submission for an app that is not configured, and holds one that was accepted before")
    func unknownApp() throws {
        let other = App(bundleID: "com.example.other", sandbox: .accept, products: .any)
        #expect(try check(.transactionID("1"), app: other).verdict?.reason == .unknownApp)
        #expect(try check(.transactionID("1"), app: other, isRow: true).verdict?.hold == .appNotConfigured)
    }

    @Test("holds a submission for an app that is known to be ours, and is missing from the apps file")
    func missingApp() throws {
        let other = App(bundleID: "com.example.other", sandbox: .accept, products: .any)
        let verdict = try check(.transactionID("1"), app: other, known: ["com.example.game"]).verdict
        #expect(verdict?.hold == .appNotConfigured)
    }

    // MARK: Signed transactions

    @Test("grants a transaction that Apple signed, and asks nobody")
    func signedTransaction() throws {
        guard case .verified(let purchases, .signedTransaction) = try check(transaction()).verdict else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.transactionID) == ["2000000000000001"])
    }

    @Test("judges a signed transaction by the rules of the app and the claim")
    func signedTransactionRules() throws {
        let id = "2000000000000001"
        #expect(try check(transaction(["bundleId": "\"com.example.x\""])).verdict?.reason == .bundleMismatch)
        #expect(try check(transaction(["bundleId": nil])).verdict?.hold == .incompleteAnswer)
        #expect(try check(transaction(), transactionID: "7").verdict?.reason == .transactionNotFound)
        let restored = ["originalTransactionId": "\"7\"", "type": "\"Non-Consumable\"", "productId": "\"level\""]
        #expect(try check(transaction(restored), transactionID: "7").verdict?.granted == [TransactionID(id)])
        #expect(try check(transaction(restored), transactionID: "8").verdict?.reason == .transactionNotFound)
        let renewed = [
            "originalTransactionId": "\"7\"", "type": "\"Auto-Renewable Subscription\"", "productId": "\"vip\"",
            "expiresDate": SignedToken.moment(86_400),
        ]
        #expect(try check(transaction(renewed), transactionID: "7").verdict?.granted == [TransactionID(id)])
        #expect(try check(transaction(renewed), transactionID: "8").verdict?.reason == .transactionNotFound)
        let over = renewed.merging(["expiresDate": SignedToken.moment(-1)]) { $1 }
        #expect(try check(transaction(over), transactionID: "7").verdict?.reason == .subscriptionExpired)
        let consumable = ["originalTransactionId": "\"7\""]
        #expect(try check(transaction(consumable), transactionID: "7").verdict?.reason == .transactionNotFound)
        #expect(try check(transaction(), transactionID: TransactionID(id)).verdict?.granted == [TransactionID(id)])
        #expect(try check(transaction(), productID: "level").verdict?.reason == .productMismatch)
        #expect(try check(transaction(["productId": nil])).verdict?.hold == .incompleteAnswer)
        #expect(try check(transaction(["type": "\"Rental\""])).verdict?.hold == .incompleteAnswer)
        let revoked = ["revocationDate": SignedToken.moment(-1)]
        #expect(try check(transaction(revoked)).verdict?.reason == .transactionRevoked)
        let sandbox = ["environment": "\"Sandbox\""]
        let rejecting = Fixture.app(sandbox: .reject)
        #expect(try check(transaction(sandbox), app: rejecting).verdict?.reason == .environmentNotAllowed)
    }

    @Test("binds a signed transaction's account token, whether or not the claim names one")
    func signedTransactionToken() throws {
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let bound = try transaction(["appAccountToken": "\"\(token)\""])
        #expect(try check(bound).verdict?.hold == .accountTokenMissing)
        #expect(
            try check(bound, token: "00000000-0000-4000-8000-000000000000").verdict?.reason == .accountTokenMismatch)
        #expect(try check(bound, token: token).verdict?.granted.count == 1)
        let required = Fixture.app(accountToken: .required)
        // Apple's signature says that there is none: no question follows.
        #expect(
            try check(transaction(), app: required, hasKey: true, token: token).verdict?.reason == .accountTokenMissing)
    }

    @Test("rejects a text that Apple did not sign, and waits for a moment of signing that has not come")
    func wrongSignature() throws {
        #expect(try check(.signedTransaction("a.b.c")).verdict?.reason == .signatureInvalid)
        let early = try check(transaction(["signedDate": SignedToken.moment(600)])).verdict
        #expect(early == .retry(.signedAhead, notBefore: Fixture.now.advanced(by: .seconds(300))))
    }

    @Test("asks the App Store Server API about a transaction that was signed long before now, where the app has a key")
    func confirmation() throws {
        let signed = try transaction()
        func call(_ age: Duration?, hasKey: Bool = true, after: Duration) throws -> String? {
            try check(signed, hasKey: hasKey, confirmsOlderThan: age, at: Fixture.now.advanced(by: after)).call
        }
        let day = Fixture.day
        #expect(try call(day, after: day) == nil)
        let asked = "production /inApps/v1/transactions/2000000000000001"
        // It was submitted in time and waited for longer: a refund since is not in it.
        #expect(try call(day, after: day + .milliseconds(1)) == asked)
        #expect(try call(nil, after: day * 10) == nil)
        #expect(try call(day, hasKey: false, after: day * 10) == nil)
        let sandbox = try check(
            transaction(["environment": "\"Sandbox\""]), hasKey: true, confirmsOlderThan: day,
            at: Fixture.now.advanced(by: day * 2))
        #expect(sandbox.call == "sandbox /inApps/v1/transactions/2000000000000001")
        // Rejected as it is, it needs no confirmation.
        let revoked = try check(
            transaction(["revocationDate": SignedToken.moment(-1)]), hasKey: true, confirmsOlderThan: day,
            at: Fixture.now.advanced(by: day * 2))
        #expect(revoked.verdict?.reason == .transactionRevoked)
    }

    @Test("asks the App Store Server API whose a transaction is that names no app, where the app has a key")
    func nobodysTransaction() throws {
        let nobodys = try transaction(["bundleId": nil])
        let asked = "production /inApps/v1/transactions/2000000000000001"
        #expect(try check(nobodys, hasKey: true).call == asked)
        let unreadable = try transaction(["bundleId": nil, "type": "\"Rental\""])
        #expect(try check(unreadable, hasKey: true).call == asked)
        for changes in [[:], ["transactionId": nil], ["environment": "\"Moon\""]] as [[String: String?]] {
            let evidence = try transaction(changes.merging(["bundleId": nil]) { $1 })
            #expect(try check(evidence, hasKey: !changes.isEmpty).verdict?.hold == .incompleteAnswer)
        }
    }

    @Test("holds what was refunded in part, and what has SKUs; the sandbox's is refused as ever")
    func heldTransactions() throws {
        let part: [String: String?] = ["revocationDate": SignedToken.moment(-1), "revocationPercentage": "40000"]
        let skus: [String: String?] = ["advancedCommerceInfo": "{}"]
        for (changes, cause) in [(part, HoldCause.partialRefund), (skus, .advancedCommerce)] {
            #expect(try check(transaction(changes)).verdict?.hold == cause)
            let names = Fixture.names("2000000000000001", of: "gems", "t:2000000000000001")
            #expect(try check(transaction(changes)).verdict?.purchases == [names], "it may be granted already")
            #expect(try check(transaction(changes), app: Fixture.app(products: .any)).verdict?.hold == cause)
            let sandbox = try transaction(changes.merging(["environment": "\"Sandbox\""]) { $1 })
            #expect(try check(sandbox).verdict?.hold == cause)
            let rejecting = Fixture.app(sandbox: .reject)
            #expect(try check(sandbox, app: rejecting).verdict?.reason == .environmentNotAllowed)
        }
        let sku = try check(transaction(skus), productID: "skin-41").verdict
        #expect(sku?.hold == .advancedCommerce && sku?.purchases == [])
        #expect(try check(transaction(part), productID: "skin-41").verdict?.reason == .productMismatch)
        let whole = try transaction(skus.merging(["revocationDate": SignedToken.moment(-1)]) { $1 })
        #expect(try check(whole).verdict?.reason == .transactionRevoked)
    }

    @Test("holds nothing for a person to give by hand that nobody may have, or another user")
    func heldForNobody() throws {
        let part: [String: String?] = ["revocationDate": SignedToken.moment(-1), "revocationPercentage": "40000"]
        let (own, other) = ("11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555")
        for ungrantable in [part, ["advancedCommerceInfo": "{}"]] {
            func verdict(_ changes: [String: String?], token: String? = nil) throws -> Verdict? {
                try check(transaction(ungrantable.merging(changes) { $1 }), token: token).verdict
            }
            let bound = ["appAccountToken": "\"\(own)\""]
            #expect(try verdict(bound, token: other)?.reason == .accountTokenMismatch)
            #expect(try verdict(bound)?.hold == .accountTokenMissing)
            guard case .hold(let cause, let detail, _) = try verdict(bound, token: own) else {
                Issue.record("the owner's is not held")
                continue
            }
            #expect([.partialRefund, .advancedCommerce].contains(cause))
            #expect(detail.hasSuffix("It is transaction 2000000000000001, of gems."))
            #expect(try verdict(["inAppOwnershipType": "\"FAMILY_SHARED\""])?.reason == .familySharedNotAllowed)
            let over = ["type": "\"Auto-Renewable Subscription\"", "expiresDate": SignedToken.moment(-1)]
            #expect(try verdict(over)?.reason == .subscriptionExpired)
            #expect(try verdict(["isUpgraded": "true"])?.reason == .transactionRevoked)
        }
        #expect(try check(transaction(part), transactionID: "8").verdict?.reason == .transactionNotFound)
    }

    // MARK: Bare ids

    @Test("asks the App Store Server API about a bare id, and holds it where the app has no key")
    func transactionID() throws {
        #expect(try check(.transactionID("12"), hasKey: true).call == "production /inApps/v1/transactions/12")
        #expect(try check(.transactionID("12")).verdict?.hold == .credentialsMissing)
    }

    @Test("does not ask about an id that is none of Apple's", arguments: ["", "../../x", "1?a=b", "-1", "１２", "1 "])
    func notAnID(id: String) throws {
        let checked = try check(.transactionID(TransactionID(id)), hasKey: true)
        #expect(checked.verdict?.reason == .transactionNotFound)
    }

    // MARK: Receipts

    @Test(
        "rejects garbage and what a receipt says against itself, at no cost to Apple", arguments: ReceiptMethod.allCases
    )
    func contradiction(method: ReceiptMethod) throws {
        for text in ["", "!!!", "AAAA"] as [EvidenceText] {
            #expect(
                try check(.receipt(base64: text), receipts: method, hasKey: true).verdict?.reason == .receiptMalformed)
        }
        let clone = try check(unsigned(bundleID: "com.example.clone"), receipts: method, hasKey: true)
        #expect(clone.verdict?.reason == .bundleMismatch)
        let xcode = try check(unsigned(origin: "Xcode"), receipts: method, hasKey: true)
        #expect(xcode.verdict?.reason == .environmentNotAllowed)
    }

    @Test("asks verifyReceipt about a receipt, signed or not")
    func verifyReceipt() throws {
        #expect(try check(receipt(entry())).call == "production passwordfirst")
        #expect(try check(unsigned(entry())).call == "production passwordfirst")
    }

    @Test(
        "rejects a receipt that Apple did not sign where its signature decides",
        arguments: [ReceiptMethod.local, .serverAPI])
    func notAuthentic(method: ReceiptMethod) throws {
        #expect(
            try check(unsigned(entry()), receipts: method, hasKey: true).verdict?.reason == .receiptNotAuthentic)
    }

    @Test("asks about a receipt that names nothing over a connection of its own, where no other answer can come")
    func namesNothing() throws {
        let nameless = ReceiptBuilder(attributes: [(2, ReceiptBuilder.utf8("com.example.game"))])
        let evidence = Evidence.receipt(base64: EvidenceText(SignedToken.base64(nameless.der)))
        #expect(try check(evidence).call == "production passwordfirst over a fresh connection")
        #expect(try check(unsigned(entry())).call == "production passwordfirst")
    }

    @Test("asks the App Store Server API for the claimed transaction of a signed receipt, else for the history")
    func serverAPI() throws {
        let evidence = try receipt(entry("1"), entry("2", product: "level"))
        func call(_ transactionID: TransactionID? = nil, _ productID: ProductID? = nil) throws -> String? {
            try check(
                evidence, receipts: .serverAPI, hasKey: true, transactionID: transactionID, productID: productID
            ).call
        }
        let history = "production /inApps/v2/history/"
        #expect(try call("2", "gems") == "production /inApps/v1/transactions/2")
        #expect(try call("7") == history + "1?sort=DESCENDING")
        let restored = try receipt(entry("21", product: "level", changing: [1705: ReceiptBuilder.utf8("20")]))
        let original = try check(restored, receipts: .serverAPI, hasKey: true, transactionID: "20")
        #expect(original.call == "production /inApps/v1/transactions/20")
        #expect(try call(nil, "level") == history + "2?sort=DESCENDING&productId=level")
        #expect(try call(nil, "pass") == history + "1?sort=DESCENDING")
        #expect(try call() == history + "1?sort=DESCENDING")
        let empty = try check(receipt(), receipts: .serverAPI, hasKey: true)
        #expect(empty.verdict?.reason == .transactionNotFound)
        let unreadable = try check(
            receipt(entry("2e3", product: "gems")), receipts: .serverAPI, hasKey: true, productID: "gems")
        #expect(unreadable.verdict?.hold == .incompleteAnswer, "Apple signed it, and a person must look")
        let claimed = try check(receipt(), receipts: .serverAPI, hasKey: true, transactionID: "2")
        #expect(claimed.verdict?.reason == .transactionNotFound, "it is anybody's")
        #expect(
            try check(receipt(), receipts: .local, hasKey: true, transactionID: "2").verdict?.reason
                == .transactionNotFound)
        let paths = try receipt(entry("../../x?y=1"), entry("123456789012345678901"))
        #expect(
            try check(paths, receipts: .serverAPI, hasKey: true, transactionID: "../../x?y=1").verdict?.hold
                == .incompleteAnswer, "it is asked for nowhere")
    }

    @Test(
        "refuses at once what Apple signed as the sandbox's, where the app grants none",
        arguments: ReceiptMethod.allCases)
    func sandboxReceipt(method: ReceiptMethod) throws {
        let evidence = try receipt(origin: "ProductionSandbox", entry("1"))
        for (hasKey, claimed) in [(true, nil), (false, nil), (true, "7"), (true, "1")] as [(Bool, TransactionID?)] {
            let checked = try check(
                evidence, app: Fixture.app(sandbox: .reject), receipts: method, hasKey: hasKey, transactionID: claimed,
                replies: [QuestionScript.reply(200, #"{"status":21007}"#)])
            #expect(checked.verdict?.reason == .environmentNotAllowed)
        }
    }

    @Test("asks for an id that only the device knows, and takes the answer as a purchase that the receipt proves")
    func deviceID() throws {
        let vip = entry("21", product: "vip", changing: [1705: ReceiptBuilder.utf8("20")])
        func verdict(_ members: [String: String?], claiming id: TransactionID = "7") throws -> Verdict? {
            let period: [String: String?] = [
                "type": "\"Auto-Renewable Subscription\"", "productId": "\"vip\"", "expiresDate": SignedToken.moment(1),
            ]
            let known = ServerAPIScript.transaction("21", period.merging(["originalTransactionId": "\"20\""]) { $1 })
            let asked = period.merging(["transactionId": "\"7\""]) { $1 }.merging(members) { $1 }
            return try check(
                receipt(vip), receipts: .serverAPI, hasKey: true, transactionID: id,
                replies: [try ServerAPIScript.page([known]), try ServerAPIScript.found(asked)]
            ).verdict
        }
        #expect(try verdict(["originalTransactionId": "\"20\""])?.granted == ["7"])
        #expect(
            try verdict(["originalTransactionId": "\"5\""])?.doubt?.becomes == .transactionNotFound,
            "another customer's")
        let consumable = ["originalTransactionId": "\"20\"", "type": "\"Consumable\"", "expiresDate": nil]
        #expect(try verdict(consumable)?.doubt?.becomes == .transactionNotFound, "each has its own id")
    }

    @Test("does not fail a claim by the device's id because Apple does not know it", arguments: [4_040_010, 4_000_006])
    func unknownDeviceID(code: Int) throws {
        let known = ServerAPIScript.transaction("1")
        let answers = [try ServerAPIScript.page([known]), ServerAPIScript.error(code), ServerAPIScript.error(code)]
        let checked = try check(
            receipt(entry("1")), receipts: .serverAPI, hasKey: true, transactionID: "7", replies: answers)
        #expect(checked.verdict?.doubt?.becomes == .transactionNotFound)
    }

    @Test("asks for a restored purchase by its original's id, because Apple's records may not have the device's")
    func restored() throws {
        let evidence = try receipt(entry("21", product: "level", changing: [1705: ReceiptBuilder.utf8("20")]))
        func run(_ page: [[String: String?]], claimed: TransactionID? = "21") throws -> Checked {
            try check(
                evidence, receipts: .serverAPI, hasKey: true, transactionID: claimed,
                replies: [try ServerAPIScript.page(page)])
        }
        let original = ServerAPIScript.transaction(
            "20", ["productId": "\"level\"", "type": "\"Non-Consumable\""])
        let other = ServerAPIScript.transaction("30", ["originalTransactionId": "\"20\""])
        #expect(try run([original]).call == "production /inApps/v2/history/20?sort=DESCENDING")
        #expect(try run([original]).verdict?.granted == ["20"])
        #expect(try run([original], claimed: nil).verdict?.granted == ["20"])
        #expect(try run([original, other]).verdict?.granted == ["20"], "nothing else is claimed")
        let named = NamedPurchase("21", of: "level", GrantKey(environment: .production, name: "t:20"))
        #expect(try run([other]).verdict == .contradicted(named), "the receipt proves it")
    }
}
