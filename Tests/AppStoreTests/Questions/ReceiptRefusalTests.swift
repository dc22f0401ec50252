import Contract
import Testing

@testable import AppStore

@Suite("Refusal of a receipt")
struct ReceiptRefusalTests {
    private typealias Script = ReceiptScript
    private let calls = ["production passwordfirst", "production passwordfirst over a fresh connection"]
    private let gems = Answer.authentic(inApp: [Answer.record()])

    struct Row: Sendable {
        let status: Int
        var more = ""
        let cause: RetryCause
        let reason: FailureReason

        var answer: [UInt8] { Answer.status(status, more) }
    }

    private static let refusals = [
        Row(status: 21002, cause: .perhapsMalformed, reason: .receiptMalformed),
        Row(status: 21003, cause: .perhapsNotAuthentic, reason: .receiptNotAuthentic),
        // A receipt in the style of iOS 6, whose reply lacks the period.
        Row(status: 21006, cause: .perhapsNotAuthentic, reason: .subscriptionExpired),
        Row(status: 21010, cause: .perhapsNotAuthentic, reason: .accountGone),
        Row(
            status: 21150, more: ",\"is-retryable\":\"false\"", cause: .perhapsNotAuthentic,
            reason: .receiptNotAuthentic),
        Row(status: 21199, more: ",\"is_retryable\":0", cause: .perhapsNotAuthentic, reason: .receiptNotAuthentic),
    ]

    @Test("is asked for once more over a fresh connection, whatever the receipt is", arguments: refusals)
    func askedAgain(row: Row) throws {
        for receipt in [try Script.signed(), try Script.forged(), try Script.unknown()] {
            let passing = try Script.run(receipt, [row.answer, gems])
            #expect(passing.calls == calls && passing.verdict?.granted == ["1001"])
        }
    }

    @Test(
        "counts for a forged receipt, never for one that Apple signed, and is a doubt for others", arguments: refusals)
    func twoWitnesses(row: Row) throws {
        let forged = try Script.run(try Script.forged(), [row.answer, row.answer])
        #expect(forged.calls == calls && forged.verdict?.reason == row.reason)
        let claim = Fixture.submission(transactionID: "2001")
        let signed = try Script.run(try Script.signed(), [row.answer, row.answer], claim)
        #expect(signed.calls == calls && signed.verdict == .contradicted("2001"))
        let other = try Script.run(try Script.signed(["2002"]), [row.answer, row.answer], claim)
        #expect(other.verdict?.doubt?.becomes == row.reason, "Apple signed no such purchase")
        // Anybody can spoil the first around its signed part. The last is of another form than a container.
        for receipt in [try Script.signed(), try Script.unknown(), nil] {
            let run = try Script.run(receipt, [row.answer, row.answer])
            #expect(run.calls == calls)
            #expect(run.verdict?.doubt?.cause == row.cause && run.verdict?.doubt?.becomes == row.reason)
        }
    }

    @Test("never counts against a signed purchase that is claimed by its original's id, where both are one purchase")
    func byOriginal() throws {
        let refused = Answer.status(21003)
        func verdict(_ product: ProductID, _ claimed: TransactionID) throws -> Verdict? {
            let receipt = try Script.signed(entries: [Script.entry("21", original: "20", product: product)])
            return try Script.run(receipt, [refused, refused], Fixture.submission(transactionID: claimed)).verdict
        }
        let level = NamedPurchase("21", of: "level", GrantKey(environment: .production, name: "t:20"))
        #expect(try verdict("level", "20") == .contradicted(level))
        #expect(try verdict("level", "21") == .contradicted(level))
        for product: ProductID in ["gems", "vip"] {
            #expect(try verdict(product, "20")?.doubt?.becomes == .receiptNotAuthentic, "another purchase has that id")
            #expect(try verdict(product, "21")?.cause == .noLongerFound)
        }
    }

    @Test("never counts against a signed purchase of which this version reads the id alone")
    func unreadable() throws {
        let receipt = try Script.signed(entries: [Script.entry("2001", isDated: false)])
        let refused = Answer.status(21003)
        let run = try Script.run(receipt, [refused, refused], Fixture.submission(transactionID: "2001"))
        let named = NamedPurchase("2001", of: "gems", GrantKey(environment: .production, name: "t:2001"))
        #expect(run.verdict == .contradicted(named))
    }

    @Test(
        "is put to the App Store Server API where Apple signed the receipt and the app has a key", arguments: refusals)
    func signedAndRefused(row: Row) throws {
        let history = try ServerAPIScript.page([ServerAPIScript.transaction("2001")])
        let answers = [row.answer, row.answer]
        let run = try Script.run(try Script.signed(), answers, hasKey: true, then: [history])
        #expect(run.calls.last == "production /inApps/v2/history/2001?sort=DESCENDING")
        #expect(run.verdict?.granted == ["2001"])
        let unknown = try Script.run(try Script.unknown(), answers, hasKey: true, then: [history])
        #expect(unknown.verdict?.doubt?.becomes == row.reason, "nobody has signed that it is this customer's")
    }

    @Test("counts where the signature, the digest or the root is wrong, and for no other fault of a receipt")
    func everyFault() throws {
        let refused = Answer.status(21003)
        for receipt in ReceiptCase.all {
            let run = try Script.run(try Script.Receipt(receipt.signing()), [refused, refused])
            let isProof = [.wrongSignature, .wrongDigest, .chain(.untrusted)].contains(receipt.error)
            #expect(run.verdict?.reason == (isProof ? .receiptNotAuthentic : nil), "\(receipt.testDescription)")
            #expect((run.verdict?.doubt?.becomes == .receiptNotAuthentic) != isProof, "\(receipt.testDescription)")
        }
    }

    @Test("counts at a second answer that came over a connection of its own before the sandbox was asked")
    func afterHop() throws {
        let refused = Answer.status(21003)
        let run = try Script.run(
            try Script.signed(origin: "ProductionSandbox"), [refused, Answer.status(21007), refused],
            Fixture.submission(transactionID: "2001"))
        #expect(run.calls == calls + ["sandbox passwordfirst over a fresh connection"])
        #expect(run.verdict == .contradicted("2001", in: .sandbox))
    }

    @Test("says the status")
    func detail() throws {
        guard
            case .rejected(let rejection) = try Script.run(
                try Script.forged(), [Answer.status(21003), Answer.status(21003)]
            ).verdict
        else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.detail.contains("21003"))
    }

    @Test("as another app's is asked for again")
    func bundle() throws {
        let foreign = Answer.authentic(bundleID: "com.example.other", inApp: [Answer.record()])
        let passing = try Script.run(try Script.signed(), [foreign, gems])
        #expect(passing.calls == calls && passing.verdict?.granted == ["1001"])
        #expect(try Script.run(try Script.signed(), [foreign, foreign]).verdict?.reason == .bundleMismatch)
    }

    // MARK: As the sandbox's, where the app grants none

    private static let policies = [SandboxPolicy.reject, .users(["somebody-else"])]

    @Test("counts at once where the receipt says of itself that it is the sandbox's", arguments: policies)
    func sandbox(policy: SandboxPolicy) throws {
        let told = try Script.run(
            try Script.signed(origin: "ProductionSandbox"), [Answer.status(21007)], app: Fixture.app(sandbox: policy),
            fingerprint: ReceiptFingerprint(saysSandbox: true))
        #expect(told.calls.count == 1 && told.verdict?.reason == .environmentNotAllowed)
    }

    @Test("is not the last word where the receipt says that it is production's", arguments: policies)
    func contradiction(policy: SandboxPolicy) throws {
        let app = Fixture.app(sandbox: policy)
        let answers = [Answer.status(21007), Answer.status(21007)]
        let unknown = try Script.run(try Script.unknown(), answers, app: app)
        #expect(unknown.verdict?.doubt?.cause == .perhapsNotAuthentic)
        #expect(unknown.verdict?.doubt?.becomes == .environmentNotAllowed)
        let claim = Fixture.submission(transactionID: "2001")
        #expect(
            try Script.run(try Script.signed(), answers, app: app, claim).verdict == .contradicted("2001"),
            "Apple signed it")
        let new = try Script.run(try Script.signed(origin: "ProductionNew"), answers, app: app, claim)
        #expect(new.verdict?.doubt?.becomes == .environmentNotAllowed, "it may be the sandbox's")
        for receipt in [try Script.signed(), try Script.unknown()] {
            #expect(try Script.run(receipt, answers, app: app).calls == calls)
            // The reply was another call's, or a host took the call for another one.
            #expect(try Script.run(receipt, [answers[0], gems], app: app).verdict?.granted == ["1001"])
        }
        #expect(try Script.run(try Script.forged(), answers, app: app).verdict?.reason == .environmentNotAllowed)
    }

    // MARK: As over

    private func expired(at moment: Timestamp) -> [UInt8] {
        let members = ["expires_date": String(moment.milliseconds), "bid": "com.example.game"] as [String: String?]
        return Array("{\"status\":21006,\"receipt\":\(Answer.record("2001", product: "vip", members))}".utf8)
    }

    @Test("is held against the moment of the claim, where the answer has the period")
    func expired() throws {
        // It waited, and meanwhile the period ended.
        let paid = try Script.run(nil, [expired(at: Fixture.now.advanced(by: .seconds(1)))])
        #expect(paid.calls.count == 1 && paid.verdict?.granted == ["2001"])
        #expect(try Script.run(nil, [expired(at: Fixture.now)]).verdict?.reason == .subscriptionExpired)
        let fingerprint = ReceiptFingerprint(transactions: ["2001"])
        let named = try Script.run(nil, [expired(at: Fixture.now)], fingerprint: fingerprint)
        #expect(named.verdict?.reason == .subscriptionExpired)
    }
}

extension Verdict {
    /// About a purchase of ``ReceiptScript/signed(_:origin:)``: a period.
    fileprivate static func contradicted(_ id: TransactionID, in environment: Environment = .production) -> Verdict {
        .contradicted(NamedPurchase(id, of: "gems", GrantKey(environment: environment, name: "w:2000000044444444")))
    }
}

@Suite("Answer that leaves a purchase open")
struct OpenAnswerTests {
    private typealias Script = ReceiptScript
    private let own = ReceiptFingerprint(transactions: ["2001"])
    private let foreign = Answer.authentic(inApp: [Answer.record("1001")])

    private func page(_ changes: [String: String?] = [:]) throws -> AppStoreReply {
        try ServerAPIScript.page([ServerAPIScript.transaction("2001", changes)])
    }

    @Test("which never names a purchase of the receipt is a doubt after a fresh connection, and grants nothing")
    func neverNamed() throws {
        let claim = Fixture.submission(transactionID: "2001")
        let signed = try Script.run(try Script.signed(), [foreign, foreign], claim, fingerprint: own)
        #expect(signed.verdict == .contradicted("2001"), "Apple signed that there is one")
        for (receipt, hasKey) in [(try Script.signed(), false), (try Script.unknown(), true), (nil, true)] {
            let run = try Script.run(receipt, [foreign, foreign], hasKey: hasKey, fingerprint: own)
            #expect(run.calls.count == 2 && run.calls.last?.hasSuffix("over a fresh connection") == true)
            // The endpoint is well: it is this receipt's answer alone.
            #expect(run.outcomes == [.replied, .replied])
            guard case .doubt(.notFoundYet, .rejected(let rejection)) = run.verdict else {
                Issue.record("no doubt: \(String(describing: run.verdict))")
                continue
            }
            #expect(rejection.reason == .transactionNotFound && rejection.detail.contains("never named"))
        }
    }

    @Test("which lacks a purchase that Apple signed never ends the claim of it")
    func lacksSigned() throws {
        func verdict(_ submission: Submission, _ receipt: Script.Receipt) throws -> Verdict? {
            try Script.run(receipt, [Answer.authentic(inApp: [Answer.record("2001")])], submission).verdict
        }
        let receipt = try Script.signed(["2001", "2002"])
        #expect(try verdict(Fixture.submission(transactionID: "2002"), receipt) == .contradicted("2002"))
        #expect(try verdict(Fixture.submission(transactionID: "2001"), receipt)?.granted == ["2001"])
        let level = Answer.authentic(inApp: [Answer.record("9", product: "level")])
        let named = Fixture.submission(transactionID: "2002", productID: "level")
        for hasKey in [false, true] {
            let run = try Script.run(receipt, [level], named, hasKey: hasKey, then: [ServerAPIScript.notFound])
            #expect(run.verdict?.cause == .noLongerFound, "another purchase is no answer to it")
            #expect(run.verdict?.purchases.map(\.transactionID) == ["2002"], "with and without a key")
        }
        let absent = try verdict(Fixture.submission(transactionID: "2003"), receipt)
        #expect(absent?.doubt?.becomes == .transactionNotFound, "the receipt has it neither")
        let unknown = try verdict(Fixture.submission(transactionID: "2002"), try Script.unknown(["2001", "2002"]))
        #expect(unknown?.doubt?.becomes == .transactionNotFound, "anybody may have written it")
    }

    @Test("which never names a purchase of the receipt is looked up where Apple signed the receipt")
    func neverNamedLookedUp() throws {
        let run = try Script.run(
            try Script.signed(), [foreign, foreign], hasKey: true, fingerprint: own, then: [try page()])
        #expect(run.calls.last == "production /inApps/v2/history/2001?sort=DESCENDING")
        #expect(run.verdict?.granted == ["2001"])
    }

    /// The receipt has it as cancelled, and the latest list as standing.
    private let reversed = Answer.authentic(
        inApp: [Answer.record("2001", ["cancellation_date_ms": "1795237142000"])], latest: [Answer.record("2001")])

    @Test("which contradicts itself about a cancellation is a doubt that ends as the cancellation")
    func contradiction() throws {
        let verdict = try Script.run(try Script.signed(), [reversed], fingerprint: own).verdict
        #expect(verdict?.doubt?.cause == .perhapsRevoked && verdict?.doubt?.becomes == .transactionRevoked)
        for claim in [Fixture.submission(transactionID: "2001"), Fixture.submission(productID: "gems")] {
            #expect(try Script.run(nil, [reversed], claim, fingerprint: own).verdict?.cause == .perhapsRevoked)
        }
        // A purchase that is not claimed is in no doubt.
        let other = Answer.authentic(
            inApp: [
                Answer.record("2001", ["cancellation_date_ms": "1795237142000"]),
                Answer.record("7", product: "level", ["cancellation_date_ms": "1795237142000"]), Answer.record("8"),
            ],
            latest: [Answer.record("2001")])
        func run(_ claim: Submission) throws -> Verdict? {
            try Script.run(nil, [other], claim, fingerprint: own).verdict
        }
        #expect(try run(Fixture.submission(transactionID: "7"))?.reason == .transactionRevoked)
        #expect(try run(Fixture.submission(productID: "level"))?.reason == .transactionRevoked)
        #expect(try run(Fixture.submission())?.granted == ["8"])
        let history = try ServerAPIScript.page([ServerAPIScript.transaction("2001"), ServerAPIScript.transaction("8")])
        let lookedUp = try Script.run(try Script.signed(), [other], hasKey: true, fingerprint: own, then: [history])
        #expect(lookedUp.verdict?.granted == ["8", "2001"], "the refund was reversed")
    }

    @Test("which contradicts itself about two transactions of one purchase is a doubt, too")
    func contradictionOfRestore() throws {
        let restored = Answer.authentic(
            inApp: [
                Answer.record("2001", product: "level", ["cancellation_date_ms": "1795237142000"]),
                Answer.record("2002", product: "level", ["original_transaction_id": "2001"]),
            ])
        for claim in [Fixture.submission(), Fixture.submission(transactionID: "2002")] {
            let verdict = try Script.run(nil, [restored], claim, fingerprint: own).verdict
            #expect(verdict?.doubt?.cause == .perhapsRevoked && verdict?.doubt?.becomes == .transactionRevoked)
        }
        let history = try ServerAPIScript.page([
            ServerAPIScript.transaction("2001", ["type": "\"Non-Consumable\"", "productId": "\"level\""])
        ])
        let lookedUp = try Script.run(try Script.signed(), [restored], hasKey: true, fingerprint: own, then: [history])
        #expect(lookedUp.verdict?.granted == ["2001"], "the refund was reversed")
    }

    @Test("which has a part of a purchase holds what is claimed with it, as long as the history lacks that purchase")
    func lacksHeld() throws {
        let receipt = try Script.signed(entries: [Script.entry("2001"), Script.entry("2002")])
        let part = Answer.authentic(inApp: [Answer.record("2001"), Answer.record("2002", ["cancellation_reason": "0"])])
        let fingerprint = ReceiptFingerprint(transactions: ["2001", "2002"])
        func verdict(_ claim: Submission, _ history: [[String: String?]]) throws -> Verdict? {
            try Script.run(
                receipt, [part], claim, hasKey: true, fingerprint: fingerprint,
                then: [try ServerAPIScript.page(history)]
            ).verdict
        }
        let (first, second) = (ServerAPIScript.transaction("2001"), ServerAPIScript.transaction("2002"))
        let refunded = ServerAPIScript.transaction("2001", ["revocationDate": SignedToken.moment(-1)])
        for claim in [Fixture.submission(), Fixture.submission(productID: "gems")] {
            #expect(try Script.run(receipt, [part], claim, fingerprint: fingerprint).verdict?.hold == .incompleteAnswer)
            for history in [[], [first], [refunded]] {
                #expect(try verdict(claim, history)?.hold == .incompleteAnswer, "\(history.count) known")
            }
            #expect(try verdict(claim, [first, second])?.granted == ["2001", "2002"])
            #expect(try verdict(claim, [refunded, second])?.granted == ["2002"])
        }
        #expect(try verdict(Fixture.submission(transactionID: "2001"), [first])?.granted == ["2001"])
    }

    @Test("which has a cancellation in its latest list alone is refused at once")
    func cancelledSince() throws {
        let refunded = Answer.authentic(
            inApp: [Answer.record("2001")],
            latest: [Answer.record("2001", ["cancellation_date_ms": "1795237142000"])])
        #expect(try Script.run(nil, [refunded], fingerprint: own).verdict?.reason == .transactionRevoked)
    }

    @Test("about a cancellation, or about a date of it, is decided by Apple's signed word where the app has a key")
    func lookedUp() throws {
        let undated = Answer.authentic(inApp: [Answer.record("2001", ["cancellation_reason": "0"])])
        let nobodys = Answer.authentic(bundleID: nil, inApp: [Answer.record("2001")])
        for answer in [reversed, undated, nobodys] {
            func verdict(_ reply: AppStoreReply) throws -> Verdict? {
                try Script.run(try Script.signed(), [answer], hasKey: true, fingerprint: own, then: [reply]).verdict
            }
            #expect(try verdict(page())?.granted == ["2001"])
            let refunded = ["revocationDate": SignedToken.moment(-1)]
            #expect(try verdict(page(refunded))?.reason == .transactionRevoked)
        }
        #expect(try Script.run(nil, [undated], fingerprint: own).verdict?.hold == .incompleteAnswer)
        #expect(try Script.run(nil, [nobodys], fingerprint: own).verdict?.hold == .incompleteAnswer)
    }
}
