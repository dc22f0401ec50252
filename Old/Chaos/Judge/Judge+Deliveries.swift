import Ledger
import Purchases

extension Judge {
    func deliveries() -> [Violation] {
        var wrong: [Violation] = []
        func complain(_ detail: String) { wrong.append(Violation(rule: .told, detail: detail)) }
        let events = Dictionary(
            ledger.events.map { ($0.event.id, $0.event) }, uniquingKeysWith: { first, _ in first })
        var owed: Set<GrantID> = []
        for grant in ledger.grants where grant.claimant.bundleID == Catalogue.toldBundleID {
            owed.insert(grant.grantID)
            guard let yes = told.firstYes[grant.grantID] else {
                complain("\(grant.grantID) was not told")
                continue
            }
            if let event = events[grant.eventID], told.bodies[grant.grantID] != [event.value ?? []] {
                complain("\(grant.grantID) was told in other words than it is published")
            }
            if let published = topics.entries[grant.eventID]?.timestamp, published < yes {
                complain("\(grant.grantID) was published \(yes - published) ms before it was done")
            }
        }
        for id in told.bodies.keys.sorted() where !owed.contains(id) { complain("\(id) is no grant of this app") }
        if told.unsigned > 0 { complain("\(told.unsigned) calls were not signed as they should") }
        return wrong
    }
}
