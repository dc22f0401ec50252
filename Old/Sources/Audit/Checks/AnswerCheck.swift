import Ledger
import Purchases

/// I6 and I7: each submission has one kind of answer, and it is its own. Keeps nothing of its own.
struct AnswerCheck: Sendable {
    private var owner = Tally()
    private var kind = Tally()
    /// Grants for a submission id that was used for two different submissions: a fault of the producer's that the ledger
    /// can only warn of.
    private var reused = 0

    /// - Parameter id: the submission, and its failed event.
    mutating func take(_ row: SubmissionRow, _ id: Identity, _ grants: GrantIndex) {
        kind.check()
        let events = row.eventIDs.map { Identity($0) }
        switch row.outcome {
        case .failed where events == [id]: break
        case .failed: kind.violate("\(row.name) failed, and is answered by \(row.eventIDs)")
        case .parked where events.isEmpty || events == [id], .held where events.isEmpty || events == [id]: break
        case .granted where events.isEmpty: kind.violate("\(row.name) is granted, and answered by nothing")
        case .granted, .parked, .held: checkGrants(row, id, events, grants)
        }
    }

    private mutating func checkGrants(_ row: SubmissionRow, _ id: Identity, _ events: [Identity], _ grants: GrantIndex)
    {
        owner.check()
        let user = GrantIndex.short(row.claimant.userID.rawValue)
        let order = row.claimant.orderID.map { GrantIndex.short($0.rawValue) } ?? 0
        for event in events {
            guard let grant = grants.marks[event] else {
                kind.violate("\(row.name) is answered by \(event), which tells of no grant")
                continue
            }
            let isTheirs = grant.user == user && (grant.order == 0 || order == 0 || grant.order == order)
            guard !isTheirs else { continue }
            if grant.submission == id.high {
                reused += 1
            } else {
                owner.violate(
                    "\(row.name) of user \(row.claimant.userID) is answered by \(event) of somebody else's grant")
            }
        }
    }

    func findings(drained: Bool) -> [Finding] {
        [
            owner.finding(
                on: .oneOwner, drained: drained,
                note: reused == 0 ? nil : "\(reused) grants were made under submission ids that were used twice"),
            kind.finding(on: .oneKindOfAnswer, drained: drained),
        ]
    }
}

extension SubmissionRow {
    /// For people.
    var name: String { "submission \(claimant.submissionID) of \(claimant.bundleID)" }
}
