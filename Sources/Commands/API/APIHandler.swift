import CommandParser
import Configuration
import Contract
import HTTPServer
import Ledger
import Logging
import Metrics
import Scheduling

/// Answers the requests of the read-only API on the server's thread, and takes together those that have come meanwhile.
///
/// It has a connection to the ledger of its own, so no worker's call waits for a question. A question that fails is
/// refused alone. The ledger is left alone after a failure to connect, a lost connection, or two failed questions in a
/// row of those that came together. That lasts as long as the failure took, at least a second. All requests are refused
/// meanwhile, so that a slow ledger delays neither each of them in turn nor a worker's stop.
struct APIHandler: RequestHandler {
    /// Most time of one step of a read, and of opening the ledger.
    static let readLimit = Duration.seconds(2)
    /// Most grants of a submission in one answer.
    static let mostGrants = 500
    /// Most rows of a submission that wait in one answer. Each has its latest attempts.
    static let mostWaiting = 50
    private static let leastRest = Duration.seconds(1)
    /// Most questions that the ledger is asked together: they have the time limit of one, and all their answers are in
    /// memory.
    static let mostTogether = 16
    /// After so many failures in a row, the other requests that came together are refused without asking the ledger.
    private static let mostFailed = 2
    private static let away = APIRefusal.unavailable("The ledger does not answer now.", retryAfter: 1)

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
    /// Questions in a row that failed, of the requests that came together.
    private var failed = 0
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
        readTokens()
    }

    mutating func replies(to heads: [RequestHead]) -> [Reply] {
        let start = now()
        var requests: [APIRequest] = []
        // Refusals alone, in the places of their requests; nil where the ledger is asked.
        let refusals = heads.map { head -> APIRefusal? in
            do throws(APIRefusal) {
                requests.append(try request(of: head, at: start))
                return nil
            } catch {
                metrics.answered(error.status, took: now() - start)
                return error
            }
        }
        var answers = answers(to: requests)[...]
        return refusals.map { refusal in
            if let refusal { return refusal.reply }
            let reply =
                switch answers.removeFirst() {
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

    private mutating func answers(to requests: [APIRequest]) -> [Result<Reply, APIRefusal>] {
        failed = 0
        return stride(from: 0, to: requests.count, by: Self.mostTogether).flatMap { first in
            together(Array(requests[first..<min(first + Self.mostTogether, requests.count)]))
        }
    }

    /// Asks some questions together, which takes few round trips. Where that fails each is asked alone, so that only a
    /// question without an answer is refused.
    private mutating func together(_ requests: [APIRequest]) -> [Result<Reply, APIRefusal>] {
        let start = now()
        let connection: any LedgerOperator
        do throws(APIRefusal) {
            connection = try connected()
        } catch {
            return requests.map { _ in .failure(error) }
        }
        do throws(LedgerError) {
            let answers = try Self.answers(to: requests, from: connection)
            answered(by: connection)
            return answers
        } catch {
            // Any other failure may come of the ledger's content, so the next question opens it anew.
            if case .unavailable = error { ledger = connection } else { ledger = nil }
            guard requests.count == 1 else { return requests.flatMap { together([$0]) } }
            return [.failure(refusal(of: error, since: start))]
        }
    }

    private static func answers(
        to requests: [APIRequest], from ledger: any LedgerOperator
    ) throws(LedgerError) -> [Result<Reply, APIRefusal>] {
        // Each once, however often it is asked.
        var (keys, searches): (Set<SubmissionKey>, Set<Search>) = ([], [])
        for request in requests {
            switch request {
            case .submission(let key): keys.insert(key)
            case .find(let word, let limit): searches.insert(Search(word, limit: limit))
            }
        }
        let (submissions, words) = (Array(keys), Array(searches))
        let look = try ledger.look(at: submissions, for: words)
        let records = Dictionary(zip(submissions, look.records)) { first, _ in first }
        let results = Dictionary(zip(words, look.results)) { first, _ in first }
        let checkpoints = Checkpoints(look.partitions)
        return requests.map { request in
            switch request {
            case .submission(let key):
                var answer = SubmissionAnswer()
                // Without operators' actions: they have operators' names.
                if let record = records[key] { answer.add(record, of: key, actions: nil, checkpoints) }
                guard !answer.reports.isEmpty || answer.later > 0 else { return .failure(.unknownSubmission) }
                return .success(APIReply.json(200, answer.json(mostGrants: mostGrants, mostWaiting: mostWaiting)))
            case .find(let word, let limit):
                let search = Search(word, limit: limit)
                return .success(APIReply.json(200, (results[search] ?? search.result([])).json(checkpoints)))
            }
        }
    }

    // MARK: Tokens

    /// Reads them anew if their file has changed.
    private mutating func readTokens() {
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
    }

    private mutating func token(of head: RequestHead) throws(APIRefusal) -> Int {
        readTokens()
        guard reading?.problem == nil else {
            throw .unavailable("The tokens file cannot be used; the worker's log says why.", retryAfter: 5)
        }
        guard let place = tokens.place(of: head) else { throw .unauthorized }
        return place
    }

    // MARK: Ledger

    /// The connection, which is opened where there is none.
    private mutating func connected() throws(APIRefusal) -> any LedgerOperator {
        let start = now()
        if let restsUntil, start < restsUntil { throw Self.away }
        if let ledger { return ledger }
        do throws(LedgerError) {
            return try open()
        } catch {
            rest(since: start, after: error)
            throw Self.away
        }
    }

    private mutating func answered(by connection: any LedgerOperator) {
        ledger = connection
        failed = 0
        if restsUntil != nil { logger.notice("The API's ledger answers again") }
        restsUntil = nil
        if refused.observe(false, at: now()) != nil { logger.notice("The API's questions are answered again") }
    }

    /// Of a question that was asked alone.
    private mutating func refusal(of error: LedgerError, since start: Instant) -> APIRefusal {
        if case .disconnected = error {
            rest(since: start, after: error)
            return Self.away
        }
        if refused.observe(true, at: now()) != nil {
            logger.warning(
                "The API's ledger does not answer a question", metadata: ["cause": .text(error.failure.message ?? "")])
        }
        failed += 1
        if failed >= Self.mostFailed { rest(since: start, after: error) }
        return .unavailable("The ledger does not answer this question now.", retryAfter: 1)
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
        "grantor_api_tokens",
        help: "Tokens that may ask the read-only API, as of the last request; 0 while their file cannot be used.")

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
