import Contract
import Testing

@testable import AppStore

/// The half for the submission: the next step, once signatures are checked.
enum ReplyHalf: Hashable, Sendable {
    /// Another call: over a fresh connection, with another token or secret, to the sandbox, for another page.
    case ask
    case verified
    case rejected(FailureReason)
    case doubt(RetryCause, FailureReason)
    case hold(HoldCause)
    /// - Parameter after: The wait that Apple named, in seconds.
    case retry(RetryCause, after: Int64? = nil)
}

/// The meaning of a reply, in the words of a test.
struct ReplyHalves: Hashable, Sendable {
    let submission: ReplyHalf
    let endpoint: CallOutcome

    init(_ submission: ReplyHalf, _ endpoint: CallOutcome) {
        self.submission = submission
        self.endpoint = endpoint
    }
}

struct ReplyRow: Sendable {
    let reply: AppStoreReply
    /// The second one where the first asks again, and gets the same.
    let meanings: [ReplyHalves]

    init(_ reply: AppStoreReply, _ meanings: ReplyHalves...) {
        self.reply = reply
        self.meanings = meanings
    }

    /// A status of verifyReceipt.
    init(status: Int, more: String = "", _ meanings: ReplyHalves...) {
        reply = QuestionScript.reply(Answer.status(status, more))
        self.meanings = meanings
    }

    /// An error of the App Store Server API.
    init(_ code: Int, status: Int? = nil, _ meanings: ReplyHalves...) {
        reply = ServerAPIScript.error(code, status: status)
        self.meanings = meanings
    }
}

/// Each row has a reply, the submission's next step, and the endpoint's state.
@Suite("A reply of Apple's: both halves of its meaning")
struct ReplyMeaningTests {
    private static func receipt(
        in environment: Environment = .production, app: App = Fixture.app()
    ) throws -> any AppleQuestion {
        let subject = QuestionSubject(submission: Fixture.submission(), rules: try QuestionScript.rules(app))
        // Over a fresh connection: no refusal is asked for again.
        let question = ReceiptQuestion(
            subject: subject, base64: Array("AAAA".utf8)[...], fingerprint: ReceiptFingerprint(), isFresh: true)
        guard environment == .sandbox else { return question }
        let hop = try received(QuestionScript.reply(Answer.status(21007)), question)
        return try #require(hop.next)
    }

    private static func serverAPIQuestion() throws -> any AppleQuestion {
        try ServerAPIScript.question(in: .production)
    }

    private static func history(pages: Int = 0) throws -> any AppleQuestion {
        let customer = ProvenCustomer("1", purchases: [ProvenPurchase("1", of: "gems")])
        let question = try ServerAPIScript.question(.history(of: customer))
        guard pages > 0 else { return question }
        let page = try ServerAPIScript.page([ServerAPIScript.transaction("1")], next: "a")
        return try #require(try received(page, question).next)
    }

    private static func question(_ service: Endpoint.Service) throws -> any AppleQuestion {
        switch service {
        case .verifyReceipt: try receipt()
        case .serverAPI: try serverAPIQuestion()
        }
    }

    private static func received(
        _ reply: AppStoreReply, _ question: any AppleQuestion
    ) throws -> (meaning: ReplyHalves, next: (any AppleQuestion)?) {
        guard case .send(let call) = question.call(at: Fixture.now) else { throw NoCall() }
        let meaning = question.received(reply, to: call, at: Fixture.now)
        var step = meaning.step
        if case .check(let question) = step {
            let verifiers = SignatureVerifiers(roots: try SignedToken.chain.roots())
            step = question.checked(with: verifiers, at: Fixture.now)
        }
        guard case .ask(let next) = step else { return (ReplyHalves(try half(step), meaning.outcome), nil) }
        return (ReplyHalves(.ask, meaning.outcome), next)
    }

    private struct NoCall: Error {}

    private static func half(_ step: QuestionStep) throws -> ReplyHalf {
        guard case .verdict(let verdict) = step else { throw NoCall() }
        switch verdict {
        case .verified: return .verified
        case .rejected(let rejection): return .rejected(rejection.reason)
        case .doubt(let cause, .rejected(let rejection)): return .doubt(cause, rejection.reason)
        case .hold(let cause, _, _): return .hold(cause)
        case .retry(let cause, let moment, _):
            return .retry(cause, after: moment?.since(Fixture.now).components.seconds)
        case .doubt: throw NoCall()
        }
    }

    private func expect(_ row: ReplyRow, _ question: any AppleQuestion, _ comment: Comment? = nil) throws {
        var asked: (any AppleQuestion)? = question
        var meanings: [ReplyHalves] = []
        while let question = asked, meanings.count < row.meanings.count {
            let (meaning, next) = try Self.received(row.reply, question)
            meanings.append(meaning)
            asked = next
        }
        #expect(meanings == row.meanings, comment)
    }

    // MARK: From either service

    @Test(
        "where no whole response came",
        arguments: [
            ReplyRow(.failed(.unreachable), ReplyHalves(.retry(.unreachable), .failed)),
            ReplyRow(.failed(.timedOut), ReplyHalves(.retry(.unreachable), .overloaded)),
            ReplyRow(.failed(.tls), ReplyHalves(.retry(.unreachable), .failed)),
            ReplyRow(.failed(.interrupted), ReplyHalves(.retry(.unreachable), .failed)),
            ReplyRow(.failed(.tooLarge), ReplyHalves(.retry(.noAnswer), .replied)),
            ReplyRow(.failed(.cancelled), ReplyHalves(.retry(.unreachable), .unknown)),
        ], Endpoint.Service.allCases)
    func noResponse(row: ReplyRow, service: Endpoint.Service) throws {
        try expect(row, Self.question(service))
    }

    @Test(
        "where a page that is no answer came with 200", arguments: ["", "<html></html>", "{", "[]", "{}", "{\"x\":1}"])
    func unreadable(body: String) throws {
        let row = ReplyRow(QuestionScript.reply(200, body), ReplyHalves(.retry(.noAnswer), .failed))
        for question in [try Self.receipt(), try Self.serverAPIQuestion(), try Self.history()] {
            try expect(row, question)
        }
    }

    @Test(
        "where a status other than 200 came without a word of Apple's",
        arguments: [
            (0, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (204, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (302, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (400, ReplyHalves(.retry(.noAnswer), .replied), ReplyHalves(.retry(.noAnswer), .replied)),
            (401, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.ask, .replied)),
            (403, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (404, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (407, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (408, ReplyHalves(.retry(.noAnswer), .overloaded), ReplyHalves(.retry(.noAnswer), .overloaded)),
            (413, ReplyHalves(.retry(.noAnswer), .replied), ReplyHalves(.retry(.noAnswer), .replied)),
            (414, ReplyHalves(.retry(.noAnswer), .replied), ReplyHalves(.retry(.noAnswer), .replied)),
            (
                429, ReplyHalves(.retry(.rateLimited), .limited(wait: nil)),
                ReplyHalves(.retry(.rateLimited), .limited(wait: nil))
            ),
            (431, ReplyHalves(.retry(.noAnswer), .replied), ReplyHalves(.retry(.noAnswer), .replied)),
            (500, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (502, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
            (503, ReplyHalves(.retry(.noAnswer), .overloaded), ReplyHalves(.retry(.noAnswer), .overloaded)),
            (504, ReplyHalves(.retry(.noAnswer), .overloaded), ReplyHalves(.retry(.noAnswer), .overloaded)),
            (999, ReplyHalves(.retry(.noAnswer), .failed), ReplyHalves(.retry(.noAnswer), .failed)),
        ])
    func statuses(status: Int, verifyReceipt: ReplyHalves, serverAPI: ReplyHalves) throws {
        for body in ["", "<html></html>", #"{"status":0}"#] {
            let reply = QuestionScript.reply(status, body)
            try expect(ReplyRow(reply, verifyReceipt), Self.receipt())
            try expect(ReplyRow(reply, serverAPI), Self.serverAPIQuestion())
        }
    }

    @Test("where Apple says for how long to wait, within fifteen minutes", arguments: Endpoint.Service.allCases)
    func retryAfter(service: Endpoint.Service) throws {
        func row(_ status: Int, _ header: String, _ meaning: ReplyHalves) -> ReplyRow {
            ReplyRow(QuestionScript.reply(status, "", retryAfter: header), meaning)
        }
        let moment = String(Fixture.now.milliseconds + 7000)
        for row in [
            row(400, "30", ReplyHalves(.retry(.noAnswer, after: 30), .replied)),
            row(408, "30", ReplyHalves(.retry(.noAnswer, after: 30), .overloaded)),
            row(429, "30", ReplyHalves(.retry(.rateLimited, after: 30), .limited(wait: .seconds(30)))),
            row(429, moment, ReplyHalves(.retry(.rateLimited, after: 7), .limited(wait: .seconds(7)))),
            row(429, "86400", ReplyHalves(.retry(.rateLimited, after: 900), .limited(wait: .seconds(900)))),
            row(429, "soon", ReplyHalves(.retry(.rateLimited), .limited(wait: nil))),
            row(500, "30", ReplyHalves(.retry(.noAnswer, after: 30), .failed)),
            row(503, "30", ReplyHalves(.retry(.noAnswer, after: 30), .overloaded)),
        ] { try expect(row, Self.question(service)) }
    }

    // MARK: From verifyReceipt

    private static let answersOfStatus = [
        ReplyRow(
            QuestionScript.reply(Answer.authentic(inApp: [Answer.record()])), ReplyHalves(.verified, .replied)),
        ReplyRow(status: 0, ReplyHalves(.hold(.incompleteAnswer), .replied)),
        ReplyRow(status: 21000, ReplyHalves(.hold(.requestRefused), .replied)),
        ReplyRow(status: 21001, ReplyHalves(.hold(.unknownAnswer), .replied)),
        ReplyRow(status: 21002, ReplyHalves(.doubt(.perhapsMalformed, .receiptMalformed), .replied)),
        ReplyRow(status: 21003, ReplyHalves(.doubt(.perhapsNotAuthentic, .receiptNotAuthentic), .replied)),
        ReplyRow(status: 21004, ReplyHalves(.hold(.sharedSecretRefused), .replied)),
        ReplyRow(status: 21005, ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(status: 21006, ReplyHalves(.doubt(.perhapsNotAuthentic, .subscriptionExpired), .replied)),
        ReplyRow(status: 21007, ReplyHalves(.ask, .replied), ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(status: 21008, ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(status: 21009, ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(status: 21010, ReplyHalves(.doubt(.perhapsNotAuthentic, .accountGone), .replied)),
        ReplyRow(status: 21100, ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(status: 21199, more: #","is_retryable":true"#, ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(
            status: 21150, more: #","is_retryable":false"#,
            ReplyHalves(.doubt(.perhapsNotAuthentic, .receiptNotAuthentic), .replied)),
        ReplyRow(status: 21200, ReplyHalves(.hold(.unknownAnswer), .replied)),
        ReplyRow(status: -1, ReplyHalves(.hold(.unknownAnswer), .replied)),
    ]

    @Test("with each status of verifyReceipt", arguments: answersOfStatus)
    func verifyReceipt(row: ReplyRow) throws {
        try expect(row, Self.receipt())
    }

    @Test("with a status that sends a receipt back, or to a sandbox that its player may not use")
    func hops() throws {
        let back = ReplyRow(status: 21008, ReplyHalves(.retry(.temporarilyUnable), .failed))
        try expect(back, Self.receipt(in: .sandbox))
        let refused = ReplyRow(
            status: 21007, ReplyHalves(.doubt(.perhapsNotAuthentic, .environmentNotAllowed), .replied))
        try expect(refused, Self.receipt(app: Fixture.app(sandbox: .reject)))
    }

    // MARK: From the App Store Server API

    private static let answersOfError = [
        ReplyRow(4_000_002, ReplyHalves(.hold(.credentialsRefused), .replied)),
        ReplyRow(4_000_005, ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ReplyRow(4_000_006, ReplyHalves(.ask, .replied), ReplyHalves(.rejected(.transactionNotFound), .replied)),
        ReplyRow(4_000_008, ReplyHalves(.ask, .replied), ReplyHalves(.rejected(.transactionNotFound), .replied)),
        ReplyRow(4_000_014, ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ReplyRow(4_000_017, ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ReplyRow(4_000_048, ReplyHalves(.ask, .replied), ReplyHalves(.rejected(.transactionNotFound), .replied)),
        ReplyRow(4_040_001, ReplyHalves(.doubt(.notFoundYet, .accountGone), .replied)),
        ReplyRow(4_040_002, ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ReplyRow(4_040_003, ReplyHalves(.hold(.credentialsRefused), .replied)),
        ReplyRow(4_040_004, ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ReplyRow(4_040_005, ReplyHalves(.doubt(.notFoundYet, .transactionNotFound), .replied)),
        ReplyRow(4_040_006, ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ReplyRow(4_040_010, ReplyHalves(.doubt(.notFoundYet, .transactionNotFound), .replied)),
        ReplyRow(4_290_000, ReplyHalves(.retry(.rateLimited), .limited(wait: nil))),
        ReplyRow(5_000_000, ReplyHalves(.retry(.temporarilyUnable), .failed)),
        ReplyRow(5_000_001, ReplyHalves(.retry(.temporarilyUnable), .failed)),
    ]

    @Test("with each error of the App Store Server API")
    func serverAPI() throws {
        #expect(Self.answersOfError.map(\.reply) == AppleCodes.errors.map { ServerAPIScript.error($0.code) })
        for row in Self.answersOfError { try expect(row, Self.serverAPIQuestion(), "\(row.reply)") }
        for code in AppleCodes.requestErrors.joined() {
            try expect(
                ReplyRow(code, ReplyHalves(.hold(.requestRefused), .replied)), Self.serverAPIQuestion(), "\(code)")
        }
    }

    @Test(
        "with an error that nobody knows, or that is not its status's",
        arguments: [
            ReplyRow(4_000_999, ReplyHalves(.hold(.unknownAnswer), .replied)),
            ReplyRow(4_040_999, ReplyHalves(.hold(.unknownAnswer), .replied)),
            ReplyRow(4_080_000, ReplyHalves(.hold(.unknownAnswer), .overloaded)),
            ReplyRow(5_009_999, ReplyHalves(.retry(.noAnswer), .failed)),
            ReplyRow(5_030_000, ReplyHalves(.retry(.noAnswer), .overloaded)),
            ReplyRow(4_040_010, status: 200, ReplyHalves(.retry(.noAnswer), .failed)),
            ReplyRow(
                4_040_010, status: 401, ReplyHalves(.ask, .replied), ReplyHalves(.hold(.credentialsRefused), .replied)
            ),
            ReplyRow(4_040_010, status: 503, ReplyHalves(.retry(.noAnswer), .overloaded)),
        ])
    func strays(row: ReplyRow) throws {
        try expect(row, Self.serverAPIQuestion())
    }

    @Test("with an answer, and between two pages of a history")
    func pages() throws {
        try expect(ReplyRow(ServerAPIScript.found(), ReplyHalves(.verified, .replied)), Self.serverAPIQuestion())
        let page = try ServerAPIScript.page([ServerAPIScript.transaction("1")], next: "b")
        try expect(ReplyRow(page, ReplyHalves(.ask, .replied)), Self.history())
        for row in [
            ReplyRow(4_000_006, ReplyHalves(.retry(.temporarilyUnable), .replied)),
            ReplyRow(4_040_010, ReplyHalves(.retry(.temporarilyUnable), .replied)),
            // Begun again from the first page, and then there is no page to go back from.
            ReplyRow(4_000_005, ReplyHalves(.ask, .replied), ReplyHalves(.retry(.temporarilyUnable), .replied)),
        ] { try expect(row, Self.history(pages: 1), "\(row.reply)") }
    }
}
