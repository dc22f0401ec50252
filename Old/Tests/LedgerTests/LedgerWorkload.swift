import Ledger
import LedgerConformance
import Purchases

/// Random settlements over few users, orders, ids and purchases, so that everything collides with everything. The numbers
/// move on slowly, so that there is always something new.
struct LedgerWorkload {
    static let workers: [WorkerID] = ["first", "second", "third"]
    static let bundles: [BundleID] = [Samples.bundle, "com.example.chess"]
    static let lease: Duration = .seconds(30)

    var random: SeededGenerator
    private var base = 0
    /// What can be settled once more: a record that was read again, a commit whose answer was lost.
    private var settled: [Settlement] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func worker() -> WorkerID { Self.workers.randomElement(using: &random) ?? "first" }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Some of these, in their order.
    mutating func some<Element>(_ elements: [Element], oneIn count: Int = 2) -> [Element] {
        elements.filter { _ in random.oneIn(count) }
    }

    mutating func batch() -> [Settlement] {
        if random.oneIn(2) { base += 1 }
        let size = number(1..<(random.oneIn(8) ? 30 : 6))
        let batch = (0..<size).map { _ in repeated() ?? settlement() }
        settled = Array((settled + batch).suffix(60))
        return batch
    }

    mutating func quarantines() -> [Quarantine] {
        guard random.oneIn(6) else { return [] }
        return (0..<number(1..<4)).map { _ in Samples.quarantine(offset: Int64(base + number(0..<4))) }
    }

    /// Of any submission there is, and now and then of one that there is not.
    mutating func key() -> SubmissionKey {
        SubmissionKey(bundleID: bundle(), submissionID: SubmissionID("s\(number(max(0, base - 20)..<base + 31))"))
    }

    private mutating func bundle() -> BundleID { Self.bundles[random.oneIn(4) ? 1 : 0] }

    private mutating func repeated() -> Settlement? {
        guard random.oneIn(6), let old = settled.randomElement(using: &random) else { return nil }
        return random.oneIn(2) ? old : old.told(by: order())
    }

    private mutating func order() -> DeliveryOrder? {
        switch number(0..<4) {
        case 0: .due
        case 1: .held(by: worker(), for: Self.lease)
        default: nil
        }
    }

    private mutating func settlement() -> Settlement {
        let number = base + number(0..<30)
        // Mostly an id goes with one content and one user; now and then a producer reuses it for another.
        let user = UserID("user-\((number + (random.oneIn(10) ? 1 : 0)) % 4)")
        let order = random.oneIn(2) ? nil : OrderID("order-\(self.number(0..<2))")
        let id = SubmissionID("s\(number)")
        let sample = Samples.settlement(
            id, user: user, order: order, content: random.oneIn(8) ? "other" : "first", decision(id, user))
        let claimant = Claimant(submissionID: id, userID: user, bundleID: bundle(), orderID: order)
        return Settlement(
            claimant: claimant, fingerprint: sample.fingerprint, origin: sample.origin, receivedAt: sample.receivedAt,
            attempts: self.number(0..<5), decision: sample.decision, delivery: self.order())
    }

    private mutating func decision(_ id: SubmissionID, _ user: UserID) -> Decision {
        switch number(0..<40) {
        case 0..<22: return .grant((0..<number(1..<4)).map { _ in purchase() }, by: .verifyReceipt)
        case 22..<28:
            return .fail(Rejection(FailureReason.allCases.randomElement(using: &random) ?? .unknownApp, "No."))
        case 28..<37:
            let delay = Duration.milliseconds(number(0..<60_000))
            return .wait(Samples.waiting(id, cause(), detail: "Status 21999.", after: delay))
        case 37: return .grant([], by: .verifyReceipt)
        default: return .answerAgain
        }
    }

    mutating func cause() -> WaitingCause {
        random.oneIn(3) ? .held(.unknownAnswer) : .parked(random.oneIn(2) ? .noAnswer : .rateLimited)
    }

    private mutating func purchase() -> GrantablePurchase {
        let original = base + number(0..<24)
        let type = ProductType.allCases[original % ProductType.allCases.count]
        let transaction = random.oneIn(3) && type != .consumable ? original + 10_000 : original
        return Samples.purchase(
            TransactionID("\(transaction)"), original: TransactionID("\(original)"), type: type,
            // Now and then Apple leaves out the line item of a period that it has named before.
            lineItem: original % 8 == 3 && !random.oneIn(4) ? "w\(original)" : nil,
            environment: random.oneIn(6) ? .sandbox : .production)
    }
}
