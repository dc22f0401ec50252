import Contract

extension PassedOver {
    /// For people: each named purchase with its reason, and how many are not named.
    var fields: [(name: String, value: String)] {
        let all = counts.values.reduce(0, +)
        let others = all > named.count ? [("others", String(all - named.count))] : []
        return named.map { ($0.reason.rawValue, "\($0.productID), transaction \($0.transactionID)") } + others
    }

    var json: JSONOutput {
        let purchases = named.map { entry in
            JSONOutput.object([
                "transactionId": .id(entry.transactionID), "productId": .id(entry.productID),
                "reason": .word(entry.reason),
            ])
        }
        let counts = counts.map { ($0.rawValue, JSONOutput.count($1)) }
        return .object([
            "purchases": .list(purchases), "counts": .object(Dictionary(counts) { first, _ in first }),
        ])
    }
}
