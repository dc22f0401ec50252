import Ledger
import Purchases

/// I13: as many units of each product were granted as the topic tells. Keeps two numbers per product.
struct QuantityCheck: Sendable {
    private var tally = Tally()
    private var granted: [Int32: Int64] = [:]
    private var told: [Int32: Int64] = [:]

    mutating func take(_ grants: GrantIndex) {
        for mark in grants.marks.values {
            tally.check()
            granted[mark.product, default: 0] += Int64(mark.quantity)
        }
    }

    /// - Parameters:
    ///   - isTold: whether the topic has the event.
    ///   - mayBeGone: whether it may have had it.
    mutating func take(
        _ body: GrantedBody, _ id: Identity, isTold: Bool, mayBeGone: Bool, _ grants: inout GrantIndex
    ) {
        if isTold {
            told[grants.number(of: body.productId), default: 0] += Int64(body.quantity)
        } else if mayBeGone, let mark = grants.marks[id] {
            tally.skip()
            granted[mark.product, default: 0] -= Int64(mark.quantity)
        }
    }

    /// Once all events were taken.
    mutating func finding(_ products: [String], drained: Bool) -> Finding {
        for (number, product) in zip(Int32(0)..., products).sorted(by: { $0.1 < $1.1 })
        where granted[number] ?? 0 != told[number] ?? 0 {
            tally.violate("\(product): \(granted[number] ?? 0) granted, \(told[number] ?? 0) on the topic")
        }
        return tally.finding(on: .quantitiesMatch, drained: drained)
    }
}
