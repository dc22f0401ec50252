import Contract
import Ledger

/// A grant, for people and as JSON.
extension Grant {
    /// Its items, such as `100 gems, 1 vip`.
    var itemsText: String { items.map { "\($0.quantity) \($0.item)" }.joined(separator: ", ") }

    var json: JSONOutput {
        let grantID = key.grantID
        return .object([
            "grantId": .id(grantID), "key": .text(key.text), "eventId": .id(GrantedEvent.id(of: grantID)),
            "submissionId": .id(submissionID), "bundleId": .id(bundleID), "userId": .id(userID),
            "orderId": .id(orderID), "productId": .id(productID), "productType": .word(productType),
            "quantity": .count(quantity), "items": .list(items.map(\.json)), "transactionId": .id(transactionID),
            "originalTransactionId": .id(originalTransactionID), "environment": .word(environment),
            "purchasedAt": .time(purchasedAt), "expiresAt": .time(expiresAt), "verifiedBy": .text(verifiedBy),
            "attempts": .count(attempts), "receivedAt": .time(receivedAt), "grantedAt": .time(grantedAt),
            "origin": origin.json,
        ])
    }
}

extension Item {
    var json: JSONOutput { .object(["item": .text(item), "quantity": .count(quantity)]) }
}

extension Origin {
    var json: JSONOutput {
        .object(["topic": .text(topic), "partition": .number(Int64(partition)), "offset": .number(offset)])
    }
}
