import Contract
import Testing

@testable import AppStore

/// Every cell of the table of account tokens: attested × claimed × policy × way of verification.
@Suite("Account tokens")
struct AccountTokenTests {
    enum Token: String, CaseIterable, Sendable {
        case none = ""
        /// Clients set it where they have no account.
        case zeros = "00000000-0000-0000-0000-000000000000"
        case noUUID = "player-1"
        case own = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        case other = "00000000-0000-4000-8000-000000000000"

        var text: String? { self == .none ? nil : rawValue }
    }

    enum Way: String, CaseIterable, Sendable {
        case signedTransaction, serverAPI, verifyReceipt, local
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let way: Way
        let attested: Token
        let policy: AccountTokenPolicy
        /// Of each claim in the order of ``Token``: granted, held as missing, missing, or of another account (X).
        let outcomes: String

        var testDescription: String { "\(way), attests \(attested), \(policy)" }
    }

    private static func outcomes(_ attested: Token, _ policy: AccountTokenPolicy) -> String {
        switch (attested, policy) {
        case (_, .ignore): "GGGGG"
        case (.none, .match), (.zeros, .match), (.noUUID, .match): "GGGGG"
        case (.none, .required), (.zeros, .required), (.noUUID, .required): "MMMMM"
        case (.own, .match): "HHHGX"
        case (.own, .required): "MMMGX"
        case (.other, .match): "HHHXG"
        case (.other, .required): "MMMXG"
        }
    }

    private static let table: [Row] = Way.allCases.flatMap { way in
        // A receipt by itself names no token.
        (way == .local ? [.none] : Token.allCases).flatMap { attested in
            AccountTokenPolicy.allCases.map {
                Row(way: way, attested: attested, policy: $0, outcomes: outcomes(attested, $0))
            }
        }
    }

    @Test("bind by what Apple attests, for every claim, policy and way of verification", arguments: table)
    func cells(row: Row) throws {
        let answers = try Token.allCases.map { claimed in
            letter(try verdict(row.way, attested: row.attested, claimed: claimed, row.policy))
        }
        #expect(answers.joined() == row.outcomes)
    }

    private func letter(_ verdict: Verdict?) -> String {
        switch verdict {
        case .verified: "G"
        case .hold(.accountTokenMissing, _, _): "H"
        case .rejected(let rejection) where rejection.reason == .accountTokenMissing: "M"
        case .rejected(let rejection) where rejection.reason == .accountTokenMismatch: "X"
        default: "?"
        }
    }

    private func verdict(
        _ way: Way, attested: Token, claimed: Token, _ policy: AccountTokenPolicy
    ) throws -> Verdict? {
        let app = Fixture.app(accountToken: policy)
        let member = attested.text.map { ["appAccountToken": "\"\($0)\""] } ?? [:]
        switch way {
        case .signedTransaction:
            let text = try SignedToken(member).text()
            return try local(#""signedTransaction":"\#(text)""#, claimed, app, roots: SignedToken.chain.roots())
        case .local:
            var signing = try ReceiptSigning.p256()
            let gems = ReceiptBuilder.purchase(transactionID: "2001", productID: "gems")
            let consumable = gems.map { attribute in
                switch attribute.type {
                case 1705: (1705, ReceiptBuilder.utf8("2001"))
                case 1708: (1708, ReceiptBuilder.ia5(""))
                default: attribute
                }
            }
            signing.builder = ReceiptBuilder.receipt(purchases: [consumable])
            let text = SignedToken.base64(try signing.der())
            return try local(#""receipt":"\#(text)""#, claimed, app, roots: signing.roots)
        case .serverAPI:
            let submission = try submission(#""transactionId":"\#(ServerAPIScript.id)""#, claimed)
            return try QuestionScript(ServerAPIScript.question(app: app, submission), [ServerAPIScript.found(member)])
                .verdict
        case .verifyReceipt:
            let rules = try QuestionScript.rules(app)
            let question = ReceiptQuestion(
                subject: QuestionSubject(submission: try submission(#""receipt":"AAAA""#, claimed), rules: rules),
                base64: Array("AAAA".utf8)[...], fingerprint: ReceiptFingerprint())
            let record = Answer.record("1001", ["app_account_token": attested.text])
            return try QuestionScript(question, [QuestionScript.reply(Answer.authentic(latest: [record]))]).verdict
        }
    }

    /// A submission as a backend sends it.
    private func submission(_ evidence: String, _ claimed: Token) throws -> Submission {
        let token = claimed.text.map { #","appAccountToken":"\#($0)""# } ?? ""
        let value = #"{"submissionId":"s","userId":"player-1","bundleId":"com.example.game",\#(evidence)\#(token)}"#
        let record = InputRecord(
            origin: Origin(topic: "t", partition: 0, offset: 0), key: nil, value: Array(value.utf8), timestamp: nil)
        guard case .submission(let submission) = SubmissionReading(record, now: Fixture.now) else { throw Malformed() }
        return submission
    }

    private struct Malformed: Error {}

    private func local(_ evidence: String, _ claimed: Token, _ app: App, roots: TrustedRoots) throws -> Verdict? {
        let rules = try QuestionScript.rules(app, receipts: .local)
        let checker = LocalChecker(apps: [rules], verifiers: SignatureVerifiers(roots: roots))
        var submission = try self.submission(evidence, claimed)
        guard case .concluded(let verdict) = checker.check(&submission, at: Fixture.now) else {
            return nil
        }
        return verdict
    }

    @Test("are the same whatever their case", arguments: [AccountTokenPolicy.match, .required])
    func spelling(policy: AccountTokenPolicy) {
        let check = PurchaseCheck(
            app: Fixture.app(accountToken: policy), submission: Fixture.submission(token: "aaaa-BBBB"),
            attestsTokens: true)
        guard case .passes = check.finding(on: Fixture.purchase(token: "AAAA-bbbb")) else {
            Issue.record("did not pass")
            return
        }
    }

    @Test("that nobody forwards hold nothing that does not stand any more")
    func dead() {
        let purchases = [
            Fixture.purchase("1", revokedAt: Fixture.now, token: Token.own.text),
            Fixture.purchase("2", product: "vip", expiresAt: Fixture.now, token: Token.own.text),
        ]
        func verdict(_ more: Purchase...) -> Verdict {
            ClaimPolicy(app: Fixture.app(), submission: Fixture.submission())
                .verdict(on: purchases + more, by: .serverAPI)
        }
        #expect(verdict(Fixture.purchase("3")).granted == ["3"])
        #expect(verdict().reason == .subscriptionExpired)
        let standing = Fixture.purchase("4", token: Token.own.text)
        #expect(verdict(Fixture.purchase("3"), standing).hold == .accountTokenMissing, "or it would be lost")
    }

    @Test("that nobody forwards hold with the names of all that may still be granted")
    func names() {
        let bound = Fixture.purchase("1", product: "level", token: Token.own.text)
        let restored = Fixture.purchase("12", original: "11", product: "level", token: Token.own.text)
        func names(_ purchases: Purchase..., beside unreadable: UnreadablePurchases = UnreadablePurchases())
            -> [NamedPurchase]
        {
            ClaimPolicy(app: Fixture.app(), submission: Fixture.submission())
                .verdict(on: purchases, beside: unreadable, by: .serverAPI).purchases
        }
        let level = Fixture.names("1", of: "level", "t:1")
        #expect(names(bound) == [level])
        #expect(names(restored) == [Fixture.names("12", of: "level", "t:11")])
        let others = [Fixture.purchase("2"), Fixture.purchase("3", product: "new"), Fixture.purchase("4", token: "b")]
        #expect(
            names(bound, others[0], others[1], Fixture.purchase("5", revokedAt: Fixture.now))
                == [level, Fixture.names("3", of: "new", "t:3"), Fixture.names("2", of: "gems", "t:2")],
            "not what is refunded")
        #expect(names(bound, others[2]).count == 2)
        var unreadable = UnreadablePurchases()
        let part = Fixture.names("6", of: "gems", "t:6")
        unreadable.append(transactionID: "6", productID: "gems", as: .partialRefund(thousandths: nil), granted: part)
        #expect(names(bound, beside: unreadable) == [level, part])
        unreadable.append(transactionID: "7", productID: "gems")
        #expect(names(bound, beside: unreadable) == [], "nobody knows what the last one is")
    }

    @Test("that the evidence cannot say name their purchases, too, where others hold the submission")
    func unknownBesideHeld() {
        func hold(_ purchases: Purchase...) -> Verdict {
            let policy = ClaimPolicy(app: Fixture.app(accountToken: .required), submission: Fixture.submission())
            let conclusion = policy.conclusion(
                on: purchases, beside: UnreadablePurchases(), by: .verifyReceipt, attestsTokens: false)
            return switch conclusion {
            case .verdict(let verdict), .tokensUnknown(let verdict): verdict
            }
        }
        let gems = Fixture.purchase("2")
        let own = Fixture.names("2", of: "gems", "t:2")
        let contradicted = hold(Fixture.purchase("1", product: "vip"), gems)
        #expect(contradicted.hold == .productContradicted && contradicted.purchases.contains(own))
        #expect(contradicted.purchases.count == 2)
        let unlisted = hold(Fixture.purchase("3", product: "new"), gems)
        #expect(unlisted.hold == .productNotConfigured && unlisted.purchases.contains(own))
    }

    @Test("that the evidence cannot say are looked up if one purchase needs it, even beside others that pass")
    func conclusion() {
        let policy = ClaimPolicy(
            app: Fixture.app(accountToken: .required), submission: Fixture.submission(token: Token.own.text))
        let purchases = [Fixture.purchase("1", token: Token.own.text), Fixture.purchase("2")]
        func conclusion(attestsTokens: Bool) -> ClaimPolicy.Conclusion {
            policy.conclusion(
                on: purchases, beside: UnreadablePurchases(), by: .verifyReceipt, attestsTokens: attestsTokens)
        }
        guard case .tokensUnknown(let otherwise) = conclusion(attestsTokens: false) else {
            Issue.record("not looked up")
            return
        }
        #expect(otherwise.granted == ["1"])
        guard case .verdict(let verdict) = conclusion(attestsTokens: true) else {
            Issue.record("looked up")
            return
        }
        #expect(verdict.granted == ["1"])
    }
}
