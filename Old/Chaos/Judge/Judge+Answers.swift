import AppStoreSimulator
import Ledger
import Purchases

extension Judge {
    func answers() -> [Violation] {
        var wrong: [Violation] = []
        func complain(_ detail: String) { wrong.append(Violation(rule: .answered, detail: detail)) }
        var seen: Set<SubmissionID> = []
        for claim in submitted.map(\.claim) {
            guard let id = claim.submissionID, seen.insert(id).inserted else { continue }
            guard let row = rows[id]?.first, rows[id]?.count == 1 else {
                complain("\(id) has \(rows[id]?.count ?? 0) rows")
                continue
            }
            let expected = expectation(of: claim)
            let answer = Expected(row, events: topics)
            if answer != expected { complain("\(id) (\(claim.kind.rawValue)): \(answer), not \(expected)") }
        }
        for row in ledger.submissions where !seen.contains(row.claimant.submissionID) {
            complain("\(row.claimant.submissionID) was never submitted")
        }
        return wrong
    }

    /// What the answer has to be, given who has the purchases.
    private func expectation(of claim: Claim) -> Expected {
        switch claim.expectation {
        case .failed(let reason): return .failed(reason.rawValue)
        case .quarantined: return .missing
        case .granted: break
        }
        let ids = claim.transactions.compactMap { holders[$0]?.first?.eventID }
        guard claim.bought.count == 1, let holder = claim.transactions.first.flatMap({ holders[$0]?.first }) else {
            return .granted(Set(ids))
        }
        guard holder.claimant.userID == claim.userID else { return .failed(FailureReason.ownedByAnotherUser.rawValue) }
        if let held = holder.claimant.orderID, let claimed = claim.orderID, held != claimed {
            return .failed(FailureReason.grantedToAnotherOrder.rawValue)
        }
        return .granted(Set(ids))
    }
}

/// An answer, as it is or as it should be.
private enum Expected: Hashable, CustomStringConvertible {
    case granted(Set<EventID>)
    case failed(String)
    /// It has events of both kinds, none, or a fate that is no answer.
    case wrong(String)
    case missing

    init(_ row: SubmissionRow, events: TopicIndex) {
        let topics = Set(row.eventIDs.compactMap { events.entries[$0]?.topic })
        switch row.outcome {
        case .granted where topics == [Topic.granted]: self = .granted(Set(row.eventIDs))
        case .failed where topics == [Topic.failed] && row.eventIDs.count == 1: self = .failed(row.reason ?? "")
        default: self = .wrong("\(row.outcome.rawValue), with events on \(topics.sorted())")
        }
    }

    var description: String {
        switch self {
        case .granted(let ids): "granted by \(ids.sorted().map(\.rawValue))"
        case .failed(let reason): "failed as \(reason)"
        case .wrong(let text): text
        case .missing: "no answer"
        }
    }
}
