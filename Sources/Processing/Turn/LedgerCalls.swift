import Contract
import Ledger
import Scheduling

/// Calls to the ledger's second connection that have no result yet, with what each result is for.
///
/// The connection takes one after the other. A call without a result is repeated until it has one: every call may be
/// repeated.
struct LedgerCalls {
    /// The purpose of a call, with the values that its result needs.
    enum Purpose {
        /// Indices and assignments, as in the request.
        case takeOver([(index: Int, AssignmentID)])
        case knownOutcomes([SubmissionToken])
        case checkpoint([(index: Int, AssignmentID)])
        case mark(SubmissionToken)
        case unmark(index: Int, AssignmentID)
        case lookUp([SubmissionToken])
        case takeDue([DueRequest], bytes: Int)
        case renew([SubmissionToken])
        case markRow(SubmissionToken)
        case giveBack
        case owe([SubmissionToken])
        case takeOutbox([OutboxRequest])
        case report
        case measure
        case signOff

        /// At most one call of most kinds is under way.
        var kind: Kind {
            switch self {
            case .takeOver: .takeOver
            case .knownOutcomes: .knownOutcomes
            case .checkpoint: .checkpoint
            case .mark, .unmark: .mark
            case .lookUp: .lookUp
            case .takeDue: .takeDue
            case .renew, .markRow: .renew
            case .giveBack: .giveBack
            case .owe: .owe
            case .takeOutbox: .takeOutbox
            case .report: .report
            case .measure: .measure
            case .signOff: .signOff
            }
        }
    }

    enum Kind: Hashable {
        case takeOver, knownOutcomes, checkpoint, mark, lookUp, takeDue, renew, giveBack, owe, takeOutbox, report,
            measure, signOff
    }

    private struct Call {
        let request: LedgerRequest
        let purpose: Purpose
        let kind: Kind
        var isSent: Bool
        var hasFailed = false
    }

    private static let backoff = Backoff(base: .milliseconds(100), cap: .seconds(5), jitter: .equal)

    private var calls: [Call] = []
    private var requests: UInt64 = 0
    private var failures = 0
    /// When calls without a result are made again; nil while the ledger answers.
    private(set) var retryAt: Instant?
    /// Since when calls are under way without a result: from the first of them, or the last result. Nil while none is
    /// under way.
    private(set) var pendingSince: Instant?

    /// Whether a call that had no result is still without one.
    var hasFailed: Bool { calls.contains { $0.hasFailed } }
    var isEmpty: Bool { calls.isEmpty }

    func isUnderWay(_ kind: Kind) -> Bool { calls.contains { $0.kind == kind } }

    /// Makes a call, or keeps it until the ledger answers again.
    mutating func make(
        _ call: LedgerRequest.Call, for purpose: Purpose, at now: Instant, into actions: inout Actions
    ) {
        requests += 1
        let request = LedgerRequest(id: RequestID(rawValue: requests), call: call)
        let isSent = retryAt == nil
        calls.append(Call(request: request, purpose: purpose, kind: purpose.kind, isSent: isSent))
        guard isSent else { return }
        actions.requests.append(request)
        pendingSince = pendingSince ?? now
    }

    /// A call has its result.
    /// - Returns: the call's purpose; nil for a dropped call.
    mutating func ended(_ id: RequestID, at now: Instant) -> Purpose? {
        guard let index = calls.firstIndex(where: { $0.request.id == id }) else { return nil }
        let purpose = calls.remove(at: index).purpose
        resultCame(at: now)
        if !hasFailed { failures = 0 }
        // The ledger answers again, so calls that wait for a retry are made at once.
        if retryAt != nil { retryAt = Instant(nanoseconds: .min) }
        return purpose
    }

    /// A call has no result; it is made again.
    mutating func failed(_ id: RequestID, at now: Instant, using generator: inout SplitMix64) {
        guard let index = calls.firstIndex(where: { $0.request.id == id }) else { return }
        calls[index].isSent = false
        calls[index].hasFailed = true
        resultCame(at: now)
        failures += 1
        retryAt = now + Self.backoff.delay(afterFailures: failures, using: &generator)
    }

    private mutating func resultCame(at now: Instant) {
        pendingSince = calls.contains { $0.isSent } ? now : nil
    }

    /// Calls under ended ownerships are not repeated, and their results are dropped.
    mutating func forgetOwner() {
        calls.removeAll { call in
            switch call.kind {
            case .checkpoint, .mark, .owe: true
            case .takeOver, .knownOutcomes, .lookUp, .takeDue, .renew, .giveBack, .takeOutbox, .report, .measure,
                .signOff:
                false
            }
        }
        if !calls.contains(where: { $0.isSent }) { pendingSince = nil }
    }

    /// Take-overs without a result are not made again as they are.
    /// - Returns: the partitions that they were for.
    mutating func forgetUnsentTakeOvers(
        where isLost: ([(index: Int, AssignmentID)]) -> Bool
    ) -> [[(index: Int, AssignmentID)]] {
        var forgotten: [[(index: Int, AssignmentID)]] = []
        calls.removeAll { call in
            guard !call.isSent, case .takeOver(let taken) = call.purpose, isLost(taken) else { return false }
            forgotten.append(taken)
            return true
        }
        return forgotten
    }

    /// Makes the calls again whose moment has come.
    mutating func advance(to now: Instant, into actions: inout Actions) {
        guard let moment = retryAt, moment <= now else { return }
        retryAt = nil
        for index in calls.indices where !calls[index].isSent {
            calls[index].isSent = true
            actions.requests.append(calls[index].request)
            pendingSince = pendingSince ?? now
        }
    }
}
