import Contract
import Testing

@testable import AppStore

/// Evidence in forms that real clients send, and its results.
@Suite("Local check of evidence in other forms")
struct LocalCheckerFormsTests {
    private static let receiptSigning = Result { try ReceiptSigning.p256() }

    private func check(
        _ evidence: Evidence, receipts: ReceiptMethod = .local, transactionID: TransactionID? = nil,
        isRow: Bool = false, at now: Timestamp = Fixture.now
    ) throws -> (verdict: Verdict?, calls: [String]) {
        let roots =
            if case .receipt = evidence { try Self.receiptSigning.get().roots } else { try SignedToken.chain.roots() }
        let checker = LocalChecker(
            apps: [try QuestionScript.rules(receipts: receipts)], verifiers: SignatureVerifiers(roots: roots))
        var submission = Fixture.submission(transactionID: transactionID, evidence: evidence)
        switch checker.check(&submission, isRow: isRow, at: now) {
        case .concluded(let verdict): return (verdict, [])
        case .ask(let question):
            let script = try QuestionScript(question, [QuestionScript.reply(Self.answer)])
            return (script.verdict, script.calls)
        }
    }

    /// Apple's reply to a receipt in the style of iOS 6.
    private static let answer = Array(
        """
        {"status":0,"receipt":{"bid":"com.example.game","transaction_id":"1001","original_transaction_id":"1001",\
        "product_id":"gems","quantity":"1","purchase_date_ms":"1795237142000"}}
        """.utf8)

    private func detail(_ evidence: Evidence) throws -> String? {
        guard case .rejected(let rejection) = try check(evidence).verdict else { return nil }
        return rejection.detail
    }

    private func receipt() throws -> [UInt8] {
        var signing = try Self.receiptSigning.get()
        signing.builder = ReceiptBuilder.receipt(purchases: [
            [
                (1701, ReceiptBuilder.integer(1)), (1702, ReceiptBuilder.utf8("gems")),
                (1703, ReceiptBuilder.utf8("001001")), (1704, ReceiptBuilder.ia5("2026-11-21T04:59:02Z")),
                (1705, ReceiptBuilder.utf8("1001")),
            ]
        ])
        return try signing.der()
    }

    // MARK: Forms that are read

    @Test("A receipt whose plus signs became spaces, or that was escaped for a form or quoted, is read")
    func spoilt() throws {
        let base64 = SignedToken.base64(try receipt())
        try #require(base64.contains("+"))
        let forms = [
            base64, base64.replacing("+", with: " "), "\n" + base64.replacing("+", with: " ") + " ",
            base64.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D"),
            "\"" + base64 + "\"",
        ]
        for form in forms {
            #expect(try check(.receipt(base64: EvidenceText(form))).verdict?.granted == ["1001"])
        }
    }

    @Test("A receipt whose last plus sign became a space, and was trimmed, is read")
    func trimmed() throws {
        var base64 = ""
        // Each has another signature, and the signature is its end.
        for _ in 0..<20_000 where !base64.hasSuffix("+") { base64 = SignedToken.base64(try receipt()) }
        try #require(base64.hasSuffix("+"))
        let spaces = base64.replacing("+", with: " ")
        for form in [spaces, spaces + "\n", String(spaces.dropLast())] {
            #expect(try check(.receipt(base64: EvidenceText(form))).verdict?.granted == ["1001"])
        }
    }

    @Test("An id that stands with zeros in front in a receipt, a signed transaction or a claim is the id without them")
    func zeros() throws {
        let base64 = EvidenceText(SignedToken.base64(try receipt()))
        #expect(try check(.receipt(base64: base64), transactionID: "1001").verdict?.granted == ["1001"])
        let zeros = try SignedToken([
            "transactionId": "\"0002000000000000001\"", "originalTransactionId": "\"02000000000000001\"",
        ])
        let verdict = try check(.signedTransaction(EvidenceText(zeros.text())), transactionID: "2000000000000001")
            .verdict
        #expect(verdict?.granted == ["2000000000000001"])
        for member in ["transactionId", "originalTransactionId"] {
            let none = try SignedToken([member: "\"000\""]).text()
            #expect(try check(.signedTransaction(EvidenceText(none))).verdict?.hold == .incompleteAnswer)
        }
    }

    @Test("A signed transaction in quotes is read")
    func quoted() throws {
        let text = "\"" + (try SignedToken().text()) + "\"\n"
        #expect(try check(.signedTransaction(EvidenceText(text))).verdict?.granted == ["2000000000000001"])
    }

    @Test(
        "Apple is asked about a receipt in the style of iOS 6 where verifyReceipt is used; else it is refused by name")
    func transactionReceipt() throws {
        let evidence = Evidence.receipt(base64: EvidenceText(TransactionReceiptTests.base64()))
        let asked = try check(evidence, receipts: .verifyReceipt)
        #expect(asked.calls == ["production passwordfirst"] && asked.verdict?.granted == ["1001"])
        for method in [ReceiptMethod.local, .serverAPI] {
            let verdict = try check(evidence, receipts: method).verdict
            guard case .rejected(let rejection) = verdict else {
                Issue.record("not rejected")
                return
            }
            #expect(rejection.reason == .receiptMalformed)
            #expect(rejection.detail.contains("transactionReceipt in the style of iOS 6"))
            // It waited for verifyReceipt, and the app's setting has changed since.
            let waiting = try check(evidence, receipts: method, isRow: true)
            #expect(waiting.calls == ["production passwordfirst"] && waiting.verdict?.granted == ["1001"])
        }
        let foreign = Evidence.receipt(base64: EvidenceText(TransactionReceiptTests.base64(bid: "com.example.clone")))
        #expect(try check(foreign, receipts: .verifyReceipt).verdict?.reason == .bundleMismatch)
    }

    @Test("An answer that does not name the purchase of a receipt in the style of iOS 6 is not believed")
    func foreignAnswer() throws {
        let evidence = Evidence.receipt(base64: EvidenceText(TransactionReceiptTests.base64(id: "7007")))
        let asked = try check(evidence, receipts: .verifyReceipt)
        #expect(asked.verdict == nil)
        #expect(asked.calls.last == "production passwordfirst over a fresh connection")
    }

    @Test("A receipt in the style of iOS 6 that Apple took is looked up where the account token must be known")
    func transactionReceiptToken() throws {
        let text = EvidenceText(TransactionReceiptTests.base64())
        let submission = Fixture.submission(token: Self.token, evidence: .receipt(base64: text))
        let question = ReceiptQuestion(
            subject: QuestionSubject(
                submission: submission,
                rules: try QuestionScript.rules(Fixture.app(accountToken: .required), hasKey: true)),
            base64: text.bytes[...], fingerprint: ReceiptFingerprint(transactions: ["1001"]))
        let found = ServerAPIScript.transaction("1001", ["appAccountToken": "\"\(Self.token)\""])
        let reply = QuestionScript.reply(
            200, #"{"signedTransactionInfo":"\#(try SignedToken(found).text())"}"#)
        let run = try QuestionScript(question, [QuestionScript.reply(Self.answer), reply])
        #expect(run.calls.last == "production /inApps/v1/transactions/1001")
        #expect(run.verdict?.granted == ["1001"])
    }

    @Test("A hold of a receipt in the style of iOS 6 stands where its transaction is not found")
    func transactionReceiptHeld() throws {
        let text = EvidenceText(TransactionReceiptTests.base64())
        let submission = Fixture.submission(evidence: .receipt(base64: text))
        let app = Fixture.app(products: .catalogue(["gems": Product(id: "gems", type: .autoRenewable, items: [])]))
        let question = ReceiptQuestion(
            subject: QuestionSubject(
                submission: submission, rules: try QuestionScript.rules(app, hasKey: true)),
            base64: text.bytes[...], fingerprint: ReceiptFingerprint(transactions: ["1001"]))
        let run = try QuestionScript(
            question, [QuestionScript.reply(Self.answer), ServerAPIScript.error(4_040_010)])
        #expect(run.calls.last == "production /inApps/v1/transactions/1001")
        #expect(run.verdict?.hold == .productContradicted)
    }

    private static let token = "5b0e2b52-6a2e-4a3b-9d1c-0f3f1c9f1a11"

    // MARK: Forms that are refused, by their names

    @Test("Evidence in the wrong member is refused with a detail that says where it belongs")
    func wrongMember() throws {
        let signed = EvidenceText(try SignedToken().text())
        #expect(try detail(.receipt(base64: signed))?.hasSuffix("send it as signedTransaction.") == true)
        let receipt = EvidenceText(SignedToken.base64(try receipt()))
        #expect(try detail(.signedTransaction(receipt))?.hasSuffix("It is an app receipt: send it as receipt.") == true)
        for text in ["{\"Store\":\"AppleAppStore\"}", SignedToken.base64(Array("{\"transactionId\":1}".utf8))] {
            #expect(try detail(.receipt(base64: EvidenceText(text)))?.contains("It is JSON: ") == true)
            #expect(try detail(.signedTransaction(EvidenceText(text)))?.contains("It is JSON: ") == true)
        }
    }

    @Test("A transaction of Xcode's, which has one certificate, is refused as made by Xcode")
    func xcode() throws {
        var token = try SignedToken(["environment": "\"Xcode\""])
        let certificate = SignedToken.base64(try token.chain.leafDER())
        token.header = [("alg", "\"ES256\""), ("x5c", SignedToken.list([certificate]))]
        let verdict = try check(.signedTransaction(EvidenceText(token.text()))).verdict
        #expect(verdict?.reason == .environmentNotAllowed)
        token.payload.set("environment", "\"Production\"")
        #expect(try check(.signedTransaction(EvidenceText(token.text()))).verdict?.reason == .signatureInvalid)
    }

    @Test("A claimed id that a number of JSON rounded is refused with a hint, and with none where it is another one")
    func rounded() throws {
        let exact = "20000001234567891"
        let token = try SignedToken(["transactionId": "\"\(exact)\"", "originalTransactionId": "\"\(exact)\""])
        let evidence = Evidence.signedTransaction(EvidenceText(try token.text()))
        for (claimed, hasHint) in [("20000001234567892", true), ("20000001234567999", false)] {
            guard
                case .rejected(let rejection) = try check(evidence, transactionID: TransactionID(claimed)).verdict
            else { return #expect(Bool(false)) }
            #expect(rejection.reason == .transactionNotFound)
            #expect(rejection.detail.contains("looks like \(exact) rounded by a JSON number") == hasHint)
        }
    }
}

@Suite("The moment of a submission, by its evidence")
struct LocalCheckerMomentTests {
    private static let day = Fixture.day

    /// The submission after its check, with record and check so long after the evidence was signed.
    private func checked(
        _ evidence: Evidence, recorded: Duration, checked: Duration, isRow: Bool = false
    ) throws -> (submission: Submission, verdict: Verdict?) {
        let checker = LocalChecker(
            apps: [try QuestionScript.rules(receipts: .local)],
            verifiers: SignatureVerifiers(roots: try SignedToken.chain.roots()))
        var submission = Fixture.submission(
            evidence: evidence, receivedAt: Fixture.now.advanced(by: recorded))
        let outcome = checker.check(&submission, isRow: isRow, at: Fixture.now.advanced(by: checked))
        guard case .concluded(let verdict) = outcome else { return (submission, nil) }
        return (submission, verdict)
    }

    /// A period of 30 days that began, and was signed, now.
    private func period() throws -> Evidence {
        let token = try SignedToken([
            "productId": "\"vip\"", "type": "\"Auto-Renewable Subscription\"", "webOrderLineItemId": "\"9\"",
            "expiresDate": SignedToken.moment(30 * 86_400),
        ])
        return .signedTransaction(EvidenceText(try token.text()))
    }

    @Test("A record after the signature keeps its time, however late it is checked")
    func good() throws {
        let result = try checked(period(), recorded: .seconds(5), checked: Self.day * 60)
        #expect(result.submission.receivedAt == Fixture.now.advanced(by: .seconds(5)))
        #expect(result.verdict?.granted.count == 1)
    }

    @Test("A record before the signature counts as written now, so that a period that is over is not granted")
    func slow() throws {
        let result = try checked(period(), recorded: Self.day * -1, checked: Self.day * 60)
        #expect(result.submission.receivedAt == Fixture.now.advanced(by: Self.day * 60))
        #expect(result.verdict?.reason == .subscriptionExpired)
        #expect(try checked(period(), recorded: Self.day * -1, checked: Self.day).verdict?.granted.count == 1)
    }

    @Test("A clock that is a little slow costs no period: the record counts as written at the signature")
    func aLittleSlow() throws {
        let result = try checked(period(), recorded: .seconds(-300), checked: Self.day * 60)
        #expect(result.submission.receivedAt == Fixture.now)
        #expect(result.verdict?.granted.count == 1)
    }

    @Test("A submission that waited loses no period, and its moment is not before the signature either")
    func waited() throws {
        for recorded in [Self.day * -1, .seconds(-300), .seconds(5)] {
            let result = try checked(period(), recorded: recorded, checked: Self.day * 60, isRow: true)
            #expect(result.submission.receivedAt >= Fixture.now)
            #expect(result.verdict?.granted.count == 1)
        }
    }

    @Test("A receipt's creation bounds the moment, too")
    func receipt() throws {
        let evidence = Evidence.receipt(base64: EvidenceText(SignedToken.base64(ReceiptBuilder.receipt().der)))
        let late = try checked(evidence, recorded: Self.day * -1, checked: Self.day)
        #expect(late.submission.receivedAt == Fixture.now.advanced(by: Self.day))
        let created = Timestamp(rfc3339: "2026-11-21T04:59:13Z")
        let slow = try checked(evidence, recorded: .seconds(-100), checked: Self.day)
        #expect(slow.submission.receivedAt == created)
    }
}
