import Ledger
import LedgerConformance
import Purchases

/// Random settlements over few users, orders, ids and purchases, so that everything collides with everything.
struct SettlementWorkload {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func batch() -> [Settlement] {
        let size = Int.random(in: 1...(generator.oneIn(4) ? 60 : 6), using: &generator)
        return (0..<size).map { _ in settlement() }
    }

    mutating func isSettledTwice() -> Bool { generator.oneIn(3) }

    private mutating func settlement() -> Settlement {
        let number = Int.random(in: 0..<400, using: &generator)
        let id = SubmissionID("s\(number)")
        // Mostly an id goes with one content; now and then a producer reuses it for another.
        let content = generator.oneIn(12) ? "other" : "first"
        let user = UserID("user-\(generator.oneIn(12) ? (number + 1) % 7 : number % 7)")
        let order = generator.oneIn(2) ? nil : OrderID("order-\(Int.random(in: 0..<3, using: &generator))")
        return Samples.settlement(id, user: user, order: order, content: content, decision(user))
    }

    private mutating func decision(_ user: UserID) -> Decision {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<14:
            let count = Int.random(in: 1...3, using: &generator)
            return .grant((0..<count).map { _ in purchase() }, by: .verifyReceipt)
        case 14..<17:
            return .fail(Rejection(FailureReason.allCases.randomElement(using: &generator) ?? .unknownApp, "No."))
        case 17..<19:
            return .wait(Samples.waiting("s", .held(.unknownAnswer), detail: "Status 21999."))
        default:
            return .answerAgain
        }
    }

    private mutating func purchase() -> GrantablePurchase {
        let original = Int.random(in: 0..<300, using: &generator)
        let type = ProductType.allCases[original % 4]
        let transaction = generator.oneIn(3) && type != .consumable ? original + 10_000 : original
        return Samples.purchase(
            TransactionID("\(transaction)"), original: TransactionID("\(original)"), type: type,
            lineItem: original % 8 == 3 ? "w\(original)" : nil, environment: generator.oneIn(9) ? .sandbox : .production
        )
    }
}
