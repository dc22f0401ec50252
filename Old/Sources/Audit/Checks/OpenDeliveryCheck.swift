import Ledger
import Purchases

/// I22: an inventory service is told of a grant before anybody else is, and in the end of every one. Deliveries are marked in
/// the ``GrantIndex``.
struct OpenDeliveryCheck: Sendable {
    private var tally = Tally()
    /// Deliveries that are open: no violation before everything is settled and published.
    private var open = Tally()

    mutating func take(_ row: DeliveryRow, _ grants: inout GrantIndex) {
        tally.check()
        open.check()
        let id = Identity(row.eventID)
        guard grants.marks[id] != nil else {
            return tally.violate("a delivery is of no grant: \(row.grantID)")
        }
        guard row.isOpen else { return }
        grants.deliver(id)
        open.violate("grant \(row.grantID) is still to be delivered to the service of \(row.bundleID)")
    }

    mutating func take(_ entry: OutboxEntry, _ mark: GrantIndex.Mark?) {
        if mark?.isToBeDelivered == true { tally.violate("\(entry.name) came out before its delivery was done") }
    }

    func finding(drained: Bool) -> Finding {
        var all = tally
        if drained { all.add(violationsOf: open) }
        return all.finding(
            on: .deliveredFirst, drained: drained,
            note: drained || open.violations == 0 ? nil : "\(open.violations) deliveries are open")
    }
}
