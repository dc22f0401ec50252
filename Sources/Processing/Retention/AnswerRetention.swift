public import Contract
public import Ledger
public import Scheduling

/// When a worker deletes old answers, and in which steps. Pure: a driver carries each step out and says how it ended.
///
/// The live worker that started first does it. Each finds that out for itself from the signs of life, so no agreement
/// is needed. Where two workers think so, both delete the same rows. A worker that ends amid a round leaves nothing to
/// repair: the next round begins at the first row again.
public struct AnswerRetention: Sendable {
    /// The pause between two rounds.
    public static let interval: Duration = .seconds(6 * 3600)
    /// The pause after a round that the ledger has ended, and between two looks of a worker that is not the one.
    public static let shortPause: Duration = .seconds(600)
    /// Most answers that go in a second.
    public static let perSecond = 500
    /// The first round comes so long after the start, or up to twice as long. The group has mostly let the worker in by
    /// then, and workers that start together do not look together.
    static let firstPause: Duration = .seconds(60)
    /// How long the rounds are a worker's own before it looks again.
    static let turn: Duration = .seconds(60)

    public enum Step: Hashable, Sendable {
        /// Nothing before a moment, between two rounds: no connection is needed.
        case sleep(until: Instant)
        /// Nothing before a moment, within a round.
        case rest(until: Instant)
        case call(Call)
    }

    /// A call to the ledger: ``LedgerOperator`` has one method for each case.
    public enum Call: Hashable, Sendable {
        case workers
        case places(before: Timestamp)
        /// Unless the same action stands already.
        case note(OperatorNote)
        case prune(PruneWalk.Step, before: Timestamp)
    }

    /// The result of a ``Call``.
    public enum Answer: Sendable {
        case workers([WorkerRow])
        case places(ClosedRange<Int64>)
        case noted
        case pruned(Int)
    }

    /// A round that has deleted something.
    public struct Round: Hashable, Sendable {
        public let answers: Int
        /// Answers of before this moment went.
        public let before: Timestamp
        public let took: Duration
    }

    private struct Present {
        /// By this host's clock, and by the ledger's once that is known.
        var before: Timestamp
        let startedAt: Instant
        var pace: Pace
        /// When the worker was the first one at last.
        var isOursSince: Instant?
        var walk: PruneWalk?
        var isNoted = false
        var restUntil: Instant
    }

    private let keep: Duration
    /// As the ledger's signs of life have it.
    private let worker: String
    private let reason: String
    private var present: Present?
    /// The moment of a noted round that has failed. The next round takes the same moment. So an audit forgives no more
    /// than was noted once, however long rounds fail.
    private var unfinished: Timestamp?
    private var nextAt: Instant

    /// - Parameters:
    ///   - keep: How long answers stay.
    ///   - worker: This worker's name, see ``WorkerSign/name``.
    ///   - reason: Why, for the operators' actions.
    ///   - unit: A random number in `0..<1`.
    public init(keep: Duration, worker: String, reason: String, startedAt now: Instant, unit: Double) {
        self.keep = keep
        self.worker = worker
        self.reason = reason
        nextAt = now + Self.firstPause * (1 + unit)
    }

    /// The step that comes now.
    /// - Parameter wall: This host's clock.
    public mutating func next(at now: Instant, wall: Timestamp) -> Step {
        guard nextAt <= now else { return .sleep(until: nextAt) }
        let round =
            present
            ?? Present(
                before: unfinished ?? wall.advanced(by: Duration.zero - keep), startedAt: now,
                pace: Pace(perSecond: Self.perSecond, from: now), restUntil: now)
        present = round
        guard round.restUntil <= now else { return .rest(until: round.restUntil) }
        guard let since = round.isOursSince, now - since < Self.turn else { return .call(.workers) }
        guard let step = round.walk?.next else { return .call(.places(before: round.before)) }
        // Before the first answer goes: an audit must know that answers may be missing.
        if !step.isTrial, !round.isNoted {
            let note = OperatorNote(actor: "worker \(worker)", reason: reason, at: wall)
            return .call(.note(note.pruning(before: round.before)))
        }
        return .call(.prune(step, before: round.before))
    }

    /// The call of the latest step has a result.
    /// - Returns: the round that has ended with it, if the round has deleted something.
    public mutating func ended(_ answer: Answer, at now: Instant) -> Round? {
        guard var round = present else { return nil }
        switch answer {
        case .workers(let workers):
            // Soon again: the first one may go, and in a rolling restart each worker is young.
            guard let sign = first(of: workers), sign.name == worker else {
                return end(round, at: now, pause: Self.shortPause)
            }
            // Answers have the ledger's time. A clock that is ahead makes answers look old, so the earlier clock
            // counts.
            if round.isOursSince == nil { round.before = min(round.before, sign.seenAt.advanced(by: .zero - keep)) }
            round.isOursSince = now
        case .places(let places):
            round.walk = PruneWalk(places, isTrial: false, portion: round.pace.portion)
        case .noted: round.isNoted = true
        case .pruned(let rows):
            let isTrial = round.walk?.next?.isTrial ?? true
            round.walk?.ended(rows)
            // A step that found nothing was a transaction, too.
            if !isTrial { round.restUntil = now + round.pace.pause(before: max(1, rows), now: now) }
        }
        if let walk = round.walk, walk.next == nil { return end(round, at: now) }
        present = round
        return nil
    }

    /// The call of the latest step has no result: the round ends, and the next one comes soon.
    public mutating func failed(at now: Instant) {
        if let present, present.isNoted { unfinished = present.before }
        present = nil
        nextAt = now + Self.shortPause
    }

    private mutating func end(_ round: Present, at now: Instant, pause: Duration = interval) -> Round? {
        present = nil
        unfinished = nil
        nextAt = now + pause
        let answers = round.walk?.count ?? 0
        return answers > 0 ? Round(answers: answers, before: round.before, took: now - round.startedAt) : nil
    }

    /// Among workers that started in one millisecond their names decide.
    private func first(of workers: [WorkerRow]) -> WorkerRow? {
        workers.filter(\.isLive).min { ($0.startedAt, $0.name) < ($1.startedAt, $1.name) }
    }
}

extension AnswerRetention.Call {
    /// Calls the ledger's method of this case.
    public func perform(on ledger: any LedgerOperator) throws(LedgerError) -> AnswerRetention.Answer {
        switch self {
        case .workers: return .workers(try ledger.workers())
        case .places(let before): return .places(try ledger.places(of: .answers, from: nil, to: before))
        case .note(let note):
            // A round that failed may have left it.
            let stands = try ledger.actions(on: nil).contains { action in
                action.kind == .prune && action.note.actor == note.actor && action.note.reason == note.reason
            }
            if !stands { try ledger.note(.prune, note) }
            return .noted
        case .prune(let step, let before):
            return .pruned(try ledger.prune(step.places, before: before, isTrial: step.isTrial))
        }
    }
}
