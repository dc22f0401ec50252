import Contract
import Ledger
import Processing
import Scheduling

/// How far a question about a claim has come: the number of endpoints that were asked before.
struct ScriptedQuestion: Sendable {
    let step: Int
    /// The content of an answer with signatures, for the checker that reads it.
    var reads: AttemptResult?
}

/// Apple's endpoints, and the checkers of evidence: both say what is true by now according to the script.
struct SimulatedApple {
    struct Outage {
        let endpoint: Endpoint.Service
        let environment: Environment
        let begin: Int64
        let end: Int64
        /// Calls have no end before the client gives up, instead of failing at once.
        var isSilent = false
        /// Of a thousand calls, so many fail.
        var failing: Int64 = 1000
        /// It asks for fewer calls, for so many milliseconds each time, or without a word about how long.
        var limit: Limit?

        func holds(for other: Endpoint, at now: Int64) -> Bool {
            endpoint == other.service && environment == other.environment && begin <= now && now < end
        }

        /// Milliseconds after its end for which a claim may have to wait.
        var longestPause: Int64 {
            if case .named(let wait) = limit { wait } else { 0 }
        }
    }

    enum Limit {
        case named(Int64)
        case unnamed
    }

    /// An answer about a claim, and its moment.
    struct Heard {
        let at: Int64
        let isDoubt: Bool
        /// Apple said something about it.
        let isAnswer: Bool
    }

    let claims: [ScriptedClaim]
    var outages: [Outage] = []
    /// Spans in which replies take seconds.
    var slowSpans: [Outage] = []
    /// By claim: the reply about it for a while, instead of the truth.
    var spells: [Int: Spell] = [:]
    /// By claim, for the judge.
    var answers: [Int: [Heard]] = [:]

    init(claims: [ScriptedClaim]) { self.claims = claims }

    /// Every endpoint that the script knows, in order.
    static let endpoints: [Endpoint] = {
        var all: [Endpoint] = []
        for environment in Environment.allCases {
            all.append(Endpoint(.verifyReceipt, environment))
            for app in Script.apps { all.append(Endpoint(.serverAPI, environment, key: app.rawValue)) }
        }
        return all.sorted()
    }()

    /// The outage that an endpoint is in.
    func outage(of endpoint: Endpoint, at now: Int64) -> Outage? {
        outages.first { $0.holds(for: endpoint, at: now) }
    }

    func isSlow(_ endpoint: Endpoint, at now: Int64) -> Bool { slowSpans.contains { $0.holds(for: endpoint, at: now) } }

    // MARK: Apple

    /// The answer to one call.
    mutating func answer(
        _ task: AttemptTask, at now: Int64, _ random: inout SplitMix64
    ) -> (AttemptResult, CallOutcome) {
        let own = Life.Configuration(task.apps)
        guard let number = ScriptedClaim.number(of: task.submission.claimant),
            let question = task.question.content as? ScriptedQuestion
        else { return (.concluded(.hold(.unknownAnswer, detail: "A question about nothing.")), .replied) }
        if let outage = outage(of: task.question.endpoint, at: now),
            outage.failing == 1000 || Int64.random(in: 0..<1000, using: &random) < outage.failing
        {
            hear(number, at: now, isAnswer: false)
            switch outage.limit {
            case nil: return (.concluded(.retry(.unreachable, notBefore: nil)), .failed)
            case .unnamed: return (.concluded(.retry(.rateLimited, notBefore: nil)), .limited(wait: nil))
            case .named(let wait):
                let moment = Timestamp(milliseconds: World.wallStart + now + wait)
                return (.concluded(.retry(.rateLimited, notBefore: moment)), .limited(wait: .milliseconds(wait)))
            }
        }
        let claim = claims[number]
        if let spell = spells[number], now < spell.end {
            let (verdict, outcome) = spell.answer(
                insteadOf: verdict(on: claim, own, at: now, &random), namesOne: claim.claim.transactionID != nil)
            let isDoubt =
                if case .doubt = verdict { true } else { false }
            hear(number, at: now, isDoubt: isDoubt, isAnswer: isDoubt)
            return (.concluded(verdict), outcome)
        }
        var result: AttemptResult
        var isChecked = claim.areAnswersSigned
        if question.step + 1 < claim.endpoints.count {
            result = .next(Self.question(claim, step: question.step + 1))
        } else {
            let verdict = verdict(on: claim, own, at: now, &random)
            let isDoubt =
                if case .doubt = verdict { true } else { false }
            hear(number, at: now, isDoubt: isDoubt)
            result = .concluded(verdict)
            // Of a doubted receipt a checker looks whether it proves what is claimed.
            isChecked = isChecked || isDoubt && task.question.endpoint.service == .verifyReceipt
        }
        if isChecked {
            let content = ScriptedQuestion(step: question.step, reads: result)
            result = .check(Question(endpoint: task.question.endpoint, content: content))
        }
        return (result, .replied)
    }

    /// Whether the worker's own client makes no call of it.
    func isUnsent(_ task: AttemptTask, at now: Int64) -> Bool {
        guard !spells.isEmpty, let number = ScriptedClaim.number(of: task.submission.claimant),
            let spell = spells[number]
        else { return false }
        return spell.isUnsent && now < spell.end
    }

    private mutating func hear(_ number: Int, at now: Int64, isDoubt: Bool = false, isAnswer: Bool = true) {
        answers[number, default: []].append(Heard(at: now, isDoubt: isDoubt, isAnswer: isAnswer))
    }

    static func question(_ claim: ScriptedClaim, step: Int) -> Question {
        Question(endpoint: claim.endpoints[step], content: ScriptedQuestion(step: step))
    }

    private func verdict(
        on claim: ScriptedClaim, _ own: Life.Configuration, at now: Int64, _ random: inout SplitMix64
    ) -> Verdict {
        let genuine = own.verdict(claim.purchases, by: claim.verifiedBy)
        let unknown = Rejection(.transactionNotFound, "Apple does not know the transaction.")
        switch claim.truth {
        case .genuine: return genuine
        case .forged(let rejection): return .rejected(rejection)
        case .changing(let rejection):
            return own.verifies ?? Bool.random(using: &random) ? genuine : .rejected(rejection)
        case .late(let moment): return now < moment ? .doubt(.notFoundYet, becomes: .rejected(unknown)) : genuine
        case .never(let rejection): return .doubt(.notFoundYet, becomes: .rejected(rejection))
        case .ahead(let moment):
            let signedAt = Timestamp(milliseconds: World.wallStart + moment)
            return now < moment ? .retry(.signedAhead, notBefore: signedAt) : genuine
        case .held(let moment): return now < moment ? .hold(.sharedSecretRefused, detail: "A wrong secret.") : genuine
        case .growing(let moment):
            guard now < moment else { return genuine }
            return claim.claim.transactionID == nil
                ? own.verdict(Array(claim.purchases.dropLast()), by: claim.verifiedBy)
                : .doubt(.notFoundYet, becomes: .rejected(unknown))
        }
    }

    // MARK: Checkers

    mutating func check(
        _ task: CheckTask, records: [ScriptedRecord], at now: Int64, _ random: inout SplitMix64
    ) -> CheckResult {
        let own = Life.Configuration(task.apps)
        switch task.work {
        case .record(let record, let known):
            let scripted = records[Self.number(of: record)]
            switch scripted.content {
            case .unreadable:
                return .unreadable(
                    QuarantinedEvent.event(of: record, reason: "not JSON"),
                    QuarantineStub(of: record, reason: "not JSON"), .notJSON)
            case .malformed(let claimant):
                let malformed = Self.malformed(claimant, record)
                if let known, known.isOf(claimant, malformed.digest) { return .known(.publish) }
                return .malformed(malformed)
            case .claim(let claim):
                let submission = claim.submission(
                    at: record.origin, receivedAt: record.timestamp ?? Timestamp(milliseconds: 0))
                if let known, known.isOf(claim.claimant, ClaimDigest(of: submission)) {
                    return .known(own.repeats ?? claim.repeats)
                }
                return look(at: submission, claim, own, at: now, &random)
            }
        case .quarantine(let record, let reason):
            return .unreadable(
                QuarantinedEvent.event(of: record, reason: reason.words),
                QuarantineStub(of: record, reason: reason.words), reason.kind)
        case .submission(let submission):
            guard let claim = claim(of: submission) else {
                return .reply(.concluded(.hold(.unknownAnswer, detail: "")))
            }
            return look(at: submission, claim, own, at: now, &random)
        case .signature(let submission, let mayDecide):
            guard let claim = claim(of: submission) else { return .signature(holds: false, nil) }
            if case .forged = claim.truth { return .signature(holds: false, nil) }
            let decides = mayDecide && claim.whenVerifyReceiptUnavailable == .local
            return .signature(holds: true, decides ? own.verdict(claim.purchases, by: .local) : nil)
        case .reply(_, let question):
            let content = question.content as? ScriptedQuestion
            return .reply(
                content?.reads ?? .concluded(.hold(.unknownAnswer, detail: "Nothing here has signatures.")))
        }
    }

    private mutating func look(
        at submission: Submission, _ claim: ScriptedClaim, _ own: Life.Configuration, at now: Int64,
        _ random: inout SplitMix64
    ) -> CheckResult {
        let options = Self.options(of: claim, own)
        if own.unknownApp == submission.bundleID {
            hear(claim.number, at: now, isAnswer: false)
            return .submission(
                submission, options, .concluded(.hold(.appNotConfigured, detail: "The app is not in the apps file.")))
        }
        guard !claim.endpoints.isEmpty else {
            return .submission(submission, options, .concluded(verdict(on: claim, own, at: now, &random)))
        }
        var lookUp: GrantLookup?
        if claim.endpoints[0].service == .serverAPI, case .transactionID(let id) = claim.evidence {
            lookUp = GrantLookup(
                bundleID: submission.bundleID, userID: submission.userID, transactionID: id,
                environment: submission.claim.environment,
                orderID: submission.orderID, productID: nil)
        }
        return .submission(submission, options, .ask(Self.question(claim, step: 0), lookUp: lookUp, isSigned: nil))
    }

    private func claim(of submission: Submission) -> ScriptedClaim? {
        ScriptedClaim.number(of: submission.claimant).map { claims[$0] }
    }

    private static func options(of claim: ScriptedClaim, _ own: Life.Configuration) -> DecisionOptions {
        DecisionOptions(
            owesCall: claim.owesCall && own.hasService, repeats: own.repeats ?? claim.repeats,
            doubtsNothingNew: claim.doubtsNothingNew)
    }

    private static func malformed(_ claimant: Claimant, _ record: InputRecord) -> MalformedSubmission {
        MalformedSubmission(
            claimant: claimant, rejection: Rejection(.malformedSubmission, "No evidence."),
            digest: ClaimDigest(
                of: Submission(
                    claimant: claimant, claim: .nothing, evidence: .transactionID("0"), origin: record.origin,
                    receivedAt: Timestamp(milliseconds: 0))),
            origin: record.origin, receivedAt: record.timestamp ?? Timestamp(milliseconds: 0))
    }

    /// A record's value is its number in the script, four bytes.
    static func number(of record: InputRecord) -> Int { number(of: record.value ?? []) }

    static func number(of value: [UInt8]) -> Int { value.reduce(0) { $0 << 8 | Int($1) } }

    static func value(_ number: Int) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: number >> 24), UInt8(truncatingIfNeeded: number >> 16),
            UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number),
        ]
    }
}
