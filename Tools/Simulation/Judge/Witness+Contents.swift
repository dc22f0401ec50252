import Contract
import Ledger
import LedgerModel

/// The contents of events: the product, items and number of a purchase, its order, and the submission that a marked
/// copy answers.
extension Witness {
    /// A granted event says everything that the script knows of its purchase.
    func demandContent(_ seen: SeenEvent) {
        guard let (claim, granted) = proof(of: seen) else { return }
        let items = granted.items.map { "{\"item\":\"\($0.item)\",\"quantity\":\($0.quantity)}" }
        var parts = ["\"items\":[\(items.joined(separator: ","))]"]
        if let order = claim.claimant.orderID { parts.append("\"orderId\":\"\(order)\"") }
        parts += [
            "\"productId\":\"\(granted.product.id)\",\"productType\":\"\(granted.type.rawValue)\"",
            "\"quantity\":\(granted.purchase.quantity),",
        ]
        if let lack = seen.lack(of: parts) { fail(.contents, "\(seen.text) lacks \(lack)") }
        if claim.claimant.orderID == nil, seen.lack(of: ["\"orderId\""]) == nil {
            fail(.contents, "\(seen.text) names an order that nobody said")
        }
        if seen.bytes.key != Array(seen.userID.rawValue.utf8) { fail(.contents, "\(seen.id) has a foreign key") }
    }

    /// The claim that a granted event is about, and its purchase.
    private func proof(of seen: SeenEvent) -> (ScriptedClaim, GrantablePurchase)? {
        for claim in claimed(by: seen.submission) where claim.claimant.userID == seen.userID {
            for granted in claim.purchases where granted.reference == seen.reference { return (claim, granted) }
        }
        return nil
    }

    /// A copy is marked with a submission of the same user that claims the purchase, and that has this answer.
    func demandMark(_ mark: SubmissionID, _ seen: SeenEvent, _ world: World) {
        // A durable purchase that a ledger forgot may be granted anew, under another transaction of it.
        guard !world.options.forgets else { return }
        let key = SubmissionKey(bundleID: seen.bundleID, submissionID: mark)
        let claims = claimed(by: key)
        let isClaimed = claims.contains { claim in
            let isOtherOrder =
                seen.orderID.map { held in claim.claimant.orderID.map { $0 != held } ?? false } ?? false
            return claim.claimant.userID == seen.userID && !(isOtherOrder && seen.submission != key)
                && claim.purchases.contains {
                    $0.purchase.environment == seen.environment
                        && ($0.purchase.transactionID == seen.transactionID
                            || $0.purchase.originalTransactionID == seen.originalTransactionID)
                }
        }
        guard isClaimed else { return fail(.marks, "\(seen.id) is a copy for \(key), which does not claim it") }
        // An operator who abandons a submission whose user has the purchase gets that answer.
        if !world.options.configurationsDiffer, abandonments[key] == nil,
            !claims.contains(where: { $0.repeats == .publish })
        {
            fail(.marks, "\(seen.id) is a copy for \(key), which wants none")
        }
        guard claims.count == 1, case .failed = world.ledger.tables.answer(key) else { return }
        fail(.marks, "\(seen.id) is a copy for \(key), which failed")
    }
}

extension Witness {
    /// A ledger did not decide: of several purchases none is written.
    func undecided(_ decision: Decision, rows: Int, _ world: World) {
        let key = decision.claimant.submissionKey
        if world.ledger.tables.rows(of: key).count > rows {
            fail(.undecided, "\(key) has a part of its purchases, and is undecided")
        }
    }
}

extension SeenEvent {
    /// The first of some parts that its value lacks; they come in this order.
    func lack(of parts: [String]) -> String? {
        guard let value = bytes.value else { return parts.first }
        return value.withUnsafeBufferPointer { value in
            var place = 0
            for part in parts {
                let wanted = Array(part.utf8)
                while place + wanted.count <= value.count, !value[place..<place + wanted.count].elementsEqual(wanted) {
                    place += 1
                }
                guard place + wanted.count <= value.count else { return part }
                place += wanted.count
            }
            return nil
        }
    }
}
