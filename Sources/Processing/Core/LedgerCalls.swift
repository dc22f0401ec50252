import Contract
import Ledger
import Scheduling

/// Calls to the ledger's second connection that are not answered yet, with what each answer is for.
///
/// The connection takes one after the other. A call without a result is made again until it has one: all of them may be
/// repeated. Meanwhile the ledger counts as away, and nothing is read.
struct LedgerCalls {
    /// What an answer is for.
    enum Purpose {
        /// Places and assignments, as in the request.
        case takeOver([(place: Int, AssignmentID)])
        case knownOutcomes([SubmissionToken])
        case note([(place: Int, AssignmentID)])
        case mark(SubmissionToken)
        case unmark
        case lookUp([SubmissionToken])
        case takeDue([DueRequest], bytes: Int)
        case renew([SubmissionToken])
        case giveBack
        case owe([SubmissionToken])
        case takeOutbox([OutboxRequest])
        case report
        case measure

        /// Of most kinds one is enough at a time.
        var kind: Kind {
            switch self {
            case .takeOver: .takeOver
            case .knownOutcomes: .knownOutcomes
            case .note: .note
            case .mark, .unmark: .mark
            case .lookUp: .lookUp
            case .takeDue: .takeDue
            case .renew: .renew
            case .giveBack: .giveBack
            case .owe: .owe
            case .takeOutbox: .takeOutbox
            case .report: .report
            case .measure: .measure
            }
        }
    }

    enum Kind: Hashable {
        case takeOver, knownOutcomes, note, mark, lookUp, takeDue, renew, giveBack, owe, takeOutbox, report, measure
    }

    private struct Call {
        let request: LedgerRequest
        let purpose: Purpose
        var isSent: Bool
    }

    private static let backoff = Backoff(base: .milliseconds(100), cap: .seconds(5), jitter: .equal)

    private var calls: [Call] = []
    private var requests: UInt64 = 0
    private var failures = 0
    /// When calls without a result are made again; nil while the ledger answers.
    private(set) var retryAt: Instant?
    private(set) var awaySince: Instant?

    var isAway: Bool { awaySince != nil }
    var isEmpty: Bool { calls.isEmpty }

    func isUnderWay(_ kind: Kind) -> Bool { calls.contains { $0.purpose.kind == kind } }

    /// Makes a call, or keeps it until the ledger answers again.
    mutating func make(_ call: LedgerRequest.Call, for purpose: Purpose, into actions: inout Actions) {
        requests += 1
        let request = LedgerRequest(id: RequestID(rawValue: requests), call: call)
        let isSent = retryAt == nil
        calls.append(Call(request: request, purpose: purpose, isSent: isSent))
        if isSent { actions.requests.append(request) }
    }

    /// A call has its result.
    ///
    /// - Returns: what the answer is for, and since when the ledger was away if this ends it; nil for a call of long ago.
    mutating func answered(_ id: RequestID) -> (purpose: Purpose, awaySince: Instant?)? {
        guard let index = calls.firstIndex(where: { $0.request.id == id }) else { return nil }
        let since = awaySince
        awaySince = nil
        failures = 0
        // What waits for another try needs no more patience.
        if retryAt != nil { retryAt = Instant(nanoseconds: .min) }
        return (calls.remove(at: index).purpose, since)
    }

    /// A call has no result; it is made again.
    ///
    /// - Returns: whether the ledger is away since this call.
    mutating func failed(_ id: RequestID, at now: Instant, using generator: inout SplitMix64) -> Bool {
        guard let index = calls.firstIndex(where: { $0.request.id == id }) else { return false }
        calls[index].isSent = false
        failures += 1
        retryAt = now + Self.backoff.delay(afterFailures: failures, using: &generator)
        guard awaySince == nil else { return false }
        awaySince = now
        return true
    }

    /// Calls under ownerships that are over are not made again, and their answers are for nobody.
    mutating func forgetOwner() {
        calls.removeAll { call in
            switch call.purpose.kind {
            case .note, .mark, .owe: true
            default: false
            }
        }
    }

    /// Makes the calls again whose moment has come.
    mutating func advance(to now: Instant, into actions: inout Actions) {
        guard let moment = retryAt, moment <= now else { return }
        retryAt = nil
        for index in calls.indices where !calls[index].isSent {
            calls[index].isSent = true
            actions.requests.append(calls[index].request)
        }
    }
}
