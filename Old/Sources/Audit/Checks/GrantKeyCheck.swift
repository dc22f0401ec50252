import Ledger
import Purchases

/// I3: no purchase was granted twice.
///
/// The ledger's unique key enforces it. This looks from the other side: whether the keys are those of the purchases, and
/// whether a transaction stands behind two of them. Keeps 16 bytes per grant, 32 where the key does not name the transaction.
struct GrantKeyCheck: Sendable {
    private var tally = Tally()
    private var seen: Set<Identity> = []

    mutating func take(_ grant: GrantRow) {
        tally.check()
        let wanted = GrantKey(of: grant.granted).text
        if grant.key != wanted {
            tally.violate("grant \(grant.grantID) has the key \(grant.key), its purchase \(wanted)")
        }
        let purchase = grant.granted.purchase
        // Keys of this form are made of transaction ids, so one set tells both kinds of repetition.
        let transaction = "\(purchase.environment.rawValue):t:\(purchase.transactionID)"
        for text in grant.key == transaction ? [transaction] : [grant.key, transaction]
        where !seen.insert(Identity(text: text)).inserted {
            tally.violate("grant \(grant.grantID) (row \(grant.sequence)) grants \(text) once more")
        }
    }

    func finding(drained: Bool) -> Finding { tally.finding(on: .grantedOnce, drained: drained) }
}
