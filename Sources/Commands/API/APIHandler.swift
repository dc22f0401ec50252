import CommandParser
import Configuration
import Contract
import HTTPServer
import Ledger
import Logging
import Metrics
import Scheduling

/// Answers the requests of the read-only API on the server's thread, those together that have come meanwhile.
///
/// Its ledger's connection is its own, so whatever is asked, no worker's call waits for it. A question that fails is
/// refused alone. Where no connection comes about, or one is lost, the ledger is left alone for as long as that took,
/// but at least a second. All requests are refused meanwhile.
struct APIHandler: RequestHandler {
    /// Most time of one step of a read, and of opening the ledger.
    static let readLimit = Duration.seconds(2)
    /// Most grants of a submission that one answer has.
    static let mostGrants = 500
    private static let leastRest = Duration.seconds(1)

    let tokensFile: TokensFile
    let open: @Sendable () throws(LedgerError) -> any LedgerOperator
    let logger: Logger
    let metrics: APIMetrics
    var now: @Sendable () -> Instant = { Instant.now }
    private var reading: TokensReading?
    private var tokens = BearerTokens([])
    private var budget = APIBudget()
    private var ledger: (any LedgerOperator)?
    /// Until then the ledger is left alone.
    private var restsUntil: Instant?
    /// Questions that fail while the ledger answers others.
    private var refused = Reminder(quiet: Reminder.quiet)

    init(
        tokensFile: TokensFile, logger: Logger, metrics: APIMetrics,
        open: @escaping @Sendable () throws(LedgerError) -> any LedgerOperator
    ) {
        self.tokensFile = tokensFile
        self.logger = logger
        self.metrics = metrics
        self.open = open
    }

    mutating func replies(to heads: [RequestHead]) -> [Reply] {
        let start = now()
        var requests: [Result<APIRequest, APIRefusal>] = []
        for head in heads {
            do throws(APIRefusal) {
                requests.append(.success(try request(of: head, at: start)))
            } catch {
                requests.append(.failure(error))
            }
        }
        var answers = answers(to: requests.compactMap { try? $0.get() })[...]
        return requests.map { request in
            let answer: Result<Reply, APIRefusal> = request.flatMap { _ in answers.removeFirst() }
            let reply =
                switch answer {
                case .success(let reply): reply
                case .failure(let refusal): refusal.reply
                }
            metrics.answered(reply.status, took: now() - start)
            return reply
        }
    }

    func refusal(_ status: Int) -> Reply {
        metrics.answered(status, took: .zero)
        return APIRefusal.unreadable(status: status).reply
    }

    private mutating func request(of head: RequestHead, at start: Instant) throws(APIRefusal) -> APIRequest {
        let token = try token(of: head)
        let request = try APIRequest(head)
        if let seconds = budget.take(token, at: start) { throw .tooManyRequests(retryAfter: seconds) }
        return request
    }

    // MARK: Questions

    /// Asks all questions together, which takes as many round trips as one. Where that fails each is asked alone, so
    /// that only the question is refused that cannot be answered.
    private mutating func answers(to requests: [APIRequest]) -> [Result<Reply, APIRefusal>] {
        guard !requests.isEmpty else { return [] }
        do throws(APIRefusal) {
            return try ask { ledger throws(LedgerError) in try Self.answers(to: requests, from: ledger) }
        } catch {
            guard requests.count > 1 else { return [.failure(error)] }
        }
        return requests.flatMap { answers(to: [$0]) }
    }

    private static func answers(
        to requests: [APIRequest], from ledger: any LedgerOperator
    ) throws(LedgerError) -> [Result<Reply, APIRefusal>] {
        var (keys, searches): ([SubmissionKey], [Search]) = ([], [])
        for request in requests {
            switch request {
            case .submission(let key): keys.append(key)
            case .find(let word, let limit): searches.append(Search(word, limit: limit))
            }
        }
        var submissions = try keys.isEmpty ? [] : ledger.answers(to: keys)[...]
        var results = try searches.isEmpty ? [] : ledger.results(of: searches)[...]
        return requests.map { request in
            switch request {
            case .submission:
                let answer = submissions.removeFirst()
                guard !answer.reports.isEmpty || answer.later > 0 else { return .failure(.unknownSubmission) }
                return .success(APIReply.json(200, answer.json(mostGrants: mostGrants)))
            case .find: return .success(APIReply.json(200, results.removeFirst().json))
            }
        }
    }

    // MARK: Tokens

    private mutating func token(of head: RequestHead) throws(APIRefusal) -> Int {
        let next = tokensFile.reading(after: reading)
        if next.generation != reading?.generation {
            tokens = BearerTokens(next.tokens)
            budget.reset()
            metrics.tokens(next.tokens.count)
            if let problem = next.problem {
                logger.error("The API answers nobody: its tokens cannot be used", metadata: ["cause": .text(problem)])
            } else {
                logger.notice("The API's tokens are read", metadata: ["tokens": .number(next.tokens.count)])
            }
        }
        reading = next
        guard next.problem == nil else {
            throw .unavailable("The tokens file cannot be used; the worker's log says why.", retryAfter: 5)
        }
        guard let place = tokens.place(of: head) else { throw .unauthorized }
        return place
    }

    // MARK: Ledger

    private mutating func ask<Answer>(
        _ question: (any LedgerOperator) throws(LedgerError) -> Answer
    ) throws(APIRefusal) -> Answer {
        let start = now()
        let away = APIRefusal.unavailable("The ledger does not answer now.", retryAfter: 1)
        if let restsUntil, start < restsUntil { throw away }
        let connection: any LedgerOperator
        do throws(LedgerError) {
            if let ledger { connection = ledger } else { connection = try open() }
        } catch {
            rest(since: start, after: error)
            throw away
        }
        do throws(LedgerError) {
            let answer = try question(connection)
            ledger = connection
            if restsUntil != nil { logger.notice("The API's ledger answers again") }
            restsUntil = nil
            if refused.observe(false, at: now()) != nil { logger.notice("The API's questions are answered again") }
            return answer
        } catch {
            switch error {
            case .unavailable: ledger = connection
            case .disconnected:
                rest(since: start, after: error)
                throw away
            // Its content may be what is wrong, so the next question looks at the ledger anew.
            case .unusable: ledger = nil
            }
            if refused.observe(true, at: now()) != nil {
                logger.warning(
                    "The API's ledger does not answer a question",
                    metadata: ["cause": .text(error.failure.message ?? "")])
            }
            throw .unavailable("The ledger does not answer this question now.", retryAfter: 1)
        }
    }

    private mutating func rest(since start: Instant, after error: LedgerError) {
        ledger = nil
        if restsUntil == nil {
            logger.warning(
                "The API's ledger does not answer", metadata: ["cause": .text(error.failure.message ?? "")])
        }
        restsUntil = now() + max(Self.leastRest, now() - start)
    }
}

/// The API's metrics, present from the start.
struct APIMetrics: Sendable {
    static let requests = CounterDeclaration(
        "grantor_api_requests_total", help: "Requests to the read-only API, by the status of their answers.",
        labels: ["status"])
    static let seconds = TimerDeclaration(
        "grantor_api_request_seconds", help: "Time from a request's head until its answer was made.")
    static let tokens = GaugeDeclaration(
        "grantor_api_tokens", help: "Tokens that may ask the read-only API; 0 while their file cannot be used.")

    private let byStatus: [Int: Counter]
    private let seconds: Timer
    private let tokens: Gauge

    init(_ registry: PrometheusRegistry) {
        byStatus = Dictionary(
            APIRefusal.statuses.map { ($0, registry.counter(Self.requests, String($0))) }
        ) { first, _ in first }
        seconds = registry.timer(Self.seconds)
        tokens = registry.gauge(Self.tokens)
    }

    func answered(_ status: Int, took: Duration) {
        byStatus[status]?.increment()
        seconds.record(took)
    }

    func tokens(_ count: Int) { tokens.set(count) }
}
