import AppStoreSimulator
import Purchases
import SystemTesting

/// Draws claims: the generator of the run. Pure; it knows the truth about every purchase and nothing about faults.
struct ClaimPlan {
    /// How often each kind comes, of the sum of all.
    static let weights: [(kind: Claim.Kind, weight: Int)] = [
        (.receipt, 12), (.bundleReceipt, 3), (.durableReceipt, 3), (.sandboxReceipt, 1), (.faultyReceipt, 2),
        (.parkedReceipt, 1), (.signedTransaction, 8), (.transactionID, 5), (.duplicate, 3), (.resubmission, 2),
        (.otherOrder, 1),
        (.otherUser, 3), (.revoked, 1), (.unknownProduct, 1), (.forged, 1), (.malformed, 1), (.garbage, 1),
        (.tombstone, 1),
    ]

    /// Claims that a later one may come back to.
    static let memory = 400

    private let now: Timestamp
    private var generator: SeededGenerator
    private var number = 0
    /// Grantable claims about one purchase each.
    private var recent: [Claim] = []

    /// - Parameter now: the purchases' time; the only thing that differs between runs with one seed.
    init(seed: UInt64, now: Timestamp) {
        generator = SeededGenerator(seed: seed)
        self.now = now
    }

    /// The next claim.
    mutating func next() -> Claim {
        number += 1
        let kind = drawKind()
        switch kind {
        case .duplicate, .resubmission, .otherOrder, .otherUser:
            guard let earlier = recent.randomElement(using: &generator) else { return new(.receipt) }
            return again(kind, earlier)
        default: return new(kind)
        }
    }

    private mutating func drawKind() -> Claim.Kind {
        var left = Int.random(in: 0..<Self.weights.reduce(0) { $0 + $1.weight }, using: &generator)
        for (kind, weight) in Self.weights {
            if left < weight { return kind }
            left -= weight
        }
        return .receipt
    }

    /// A claim of a new purchase, or of none.
    private mutating func new(_ kind: Claim.Kind) -> Claim {
        let claim =
            switch kind {
            case .bundleReceipt:
                claim(kind, [buy(Catalogue.gems), buy(Catalogue.coins, quantity: 2), buy(Catalogue.gems, quantity: 3)])
            case .durableReceipt: claim(kind, [durable()])
            case .sandboxReceipt: claim(kind, [buy(Catalogue.gems, environment: .sandbox)])
            case .faultyReceipt: claim(kind, [buy(Catalogue.gems)], faults: appleFaults(1...3))
            case .parkedReceipt: claim(kind, [buy(Catalogue.gems)], faults: appleFaults(5...7))
            case .signedTransaction: claim(kind, [buy(Catalogue.gems, quantity: drawQuantity())], .signedTransaction)
            case .transactionID: claim(kind, [buy(Catalogue.coins)], .transactionID)
            case .revoked: claim(kind, [buy(Catalogue.gems, revoked: true)], .failed(.transactionRevoked))
            case .unknownProduct: claim(kind, [buy(Catalogue.retired)], .failed(.unknownProduct))
            case .forged: claim(kind, [buy(Catalogue.gems)], .forgedReceipt, .failed(.receiptNotAuthentic))
            case .malformed: claim(kind, [], .none, .failed(.malformedSubmission))
            case .garbage, .tombstone: claim(kind, [], .none, .quarantined)
            default: claim(kind, [buy(Catalogue.gems, quantity: drawQuantity())])
            }
        if claim.bought.count == 1, claim.expectation == .granted, claim.kind != .sandboxReceipt { remember(claim) }
        return claim
    }

    /// An earlier claim's purchase is claimed once more.
    private mutating func again(_ kind: Claim.Kind, _ earlier: Claim) -> Claim {
        let user = kind == .otherUser ? UserID("thief-\(number)") : earlier.userID
        let order: OrderID? =
            switch kind {
            case .otherOrder: OrderID("order-\(number)")
            case .otherUser, .resubmission: nil
            default: earlier.orderID
            }
        return Claim(
            kind: kind, number: kind == .duplicate ? earlier.number : number, bundleID: earlier.bundleID, userID: user,
            orderID: order, bought: earlier.bought, evidence: earlier.evidence, expectation: earlier.expectation,
            faults: [])
    }

    private mutating func remember(_ claim: Claim) {
        if recent.count < Self.memory {
            recent.append(claim)
        } else {
            recent[Int.random(in: recent.indices, using: &generator)] = claim
        }
    }

    private mutating func claim(
        _ kind: Claim.Kind, _ bought: [Bought], _ evidence: Claim.Evidence = .receipt,
        _ expectation: Claim.Expectation = .granted, faults: [Fault] = []
    ) -> Claim {
        Claim(
            kind: kind, number: number,
            bundleID: number.isMultiple(of: 2) ? Catalogue.toldBundleID : Catalogue.bundleID,
            userID: UserID("user-\(number)"), orderID: OrderID("order-\(number)"), bought: bought, evidence: evidence,
            expectation: expectation, faults: faults)
    }

    private mutating func claim(
        _ kind: Claim.Kind, _ bought: [Bought], _ expectation: Claim.Expectation
    ) -> Claim {
        claim(kind, bought, .receipt, expectation)
    }

    private mutating func buy(
        _ product: ProductID, _ type: ProductType = .consumable, quantity: Int = 1, revoked: Bool = false,
        environment: Environment = .production
    ) -> Bought {
        purchases += 1
        let isPeriod = type == .autoRenewable
        let purchase = SimulatedPurchase(
            transactionID: TransactionID(String(2_000_000_000_000_000 + purchases)), productID: product, kind: type,
            quantity: quantity, purchasedAt: now.advanced(by: .seconds(-300)),
            expiresAt: isPeriod ? now.advanced(by: .seconds(30 * 86_400)) : nil,
            cancelledAt: revoked ? now.advanced(by: .seconds(-60)) : nil, cancellationReason: revoked ? "0" : nil,
            webOrderLineItemID: isPeriod ? Int64(purchases) + 7_000_000 : nil)
        return Bought(purchase: purchase, environment: environment)
    }

    private var purchases = 0

    private mutating func durable() -> Bought {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: buy(Catalogue.castle, .nonConsumable)
        case 1: buy(Catalogue.season, .nonRenewing)
        default: buy(Catalogue.vip, .autoRenewable)
        }
    }

    private mutating func drawQuantity() -> Int {
        Int.random(in: 1...10, using: &generator)
    }

    private mutating func appleFaults(_ count: ClosedRange<Int>) -> [Fault] {
        let faults: [Fault] = [
            .status(code: 21005), .http(code: 503), .html, .truncated, .reset, .status(code: 21009), .empty, .cutOff,
        ]
        return (0..<Int.random(in: count, using: &generator)).map { _ in
            faults[Int.random(in: faults.indices, using: &generator)]
        }
    }
}
