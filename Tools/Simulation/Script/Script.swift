import Contract
import Ledger
import Scheduling

/// The submissions of one run: who claims what with which proof, drawn from the seed.
struct Script: Sendable {
    let records: [ScriptedRecord]
    let claims: [ScriptedClaim]
    /// The moment of the last record, in milliseconds.
    let lastProducedAt: Int64

    static let topic = "submitted"
    static let apps: [BundleID] = ["app.plain", calling, "app.quiet"]
    /// Its fulfilment service hears of each grant first.
    static let calling: BundleID = "app.calling"

    init(_ options: SwarmOptions, _ random: inout SplitMix64) {
        var author = Author(options)
        author.write(&random)
        records = author.records
        claims = author.claims
        lastProducedAt = author.records.map(\.producedAt).max() ?? 0
    }
}

private struct Author {
    let options: SwarmOptions
    var records: [ScriptedRecord] = []
    var claims: [ScriptedClaim] = []
    private var purchases: [GrantablePurchase] = []
    private var nextTransaction = 1000
    private var clock: Int64 = 0

    init(_ options: SwarmOptions) { self.options = options }

    mutating func write(_ random: inout SplitMix64) {
        while records.count < options.submissions {
            clock += options.burst ? Int64.random(in: 0...3, using: &random) : Int64.random(in: 0...400, using: &random)
            writeRecord(&random)
        }
    }

    private mutating func writeRecord(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<4: produce(.unreadable, &random)
        case 4..<7:
            let number = claims.count + 100_000 + records.count
            produce(
                .malformed(claimant(app: randomApp(&random), user: user(&random), number: number, id: nil, order: nil)),
                &random)
        case 7..<14 where !claims.isEmpty: produceAgain(&random)
        case 14..<26 where !purchases.isEmpty: claimKnownPurchase(&random)
        case 26..<31 where !purchases.isEmpty: restore(&random)
        case 31..<35 where !claims.isEmpty: reuseID(&random)
        case 35..<41 where !claims.isEmpty: buyMore(&random)
        case 41..<45 where !claims.isEmpty: claimMixture(&random)
        default: claimNewPurchases(&random)
        }
    }

    /// The same message once more, perhaps on another partition.
    private mutating func produceAgain(_ random: inout SplitMix64) {
        guard let claim = claims.randomElement(using: &random) else { return }
        produce(.claim(claim), &random)
    }

    /// Another submission for a purchase that was claimed before: by its user, or by a thief.
    private mutating func claimKnownPurchase(_ random: inout SplitMix64) {
        guard let original = claims.randomElement(using: &random), !original.purchases.isEmpty else {
            return claimNewPurchases(&random)
        }
        let isThief = Int.random(in: 0..<3, using: &random) == 0
        let number = claims.count
        let user: UserID = isThief ? "thief" : original.claimant.userID
        let order: OrderID? =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: OrderID("other-\(number)")
            case 1..<4: original.claimant.orderID
            default: nil
            }
        add(
            ScriptedClaim(
                number: number,
                claimant: claimant(app: original.claimant.bundleID, user: user, number: number, id: nil, order: order),
                claim: original.claim, evidence: original.evidence, purchases: original.purchases,
                truth: original.truth, endpoints: original.endpoints, verifiedBy: original.verifiedBy,
                owesCall: original.owesCall, repeats: original.repeats,
                doubtsNothingNew: original.doubtsNothingNew), &random)
    }

    /// A user buys once more, and the app's receipt has the former purchases as well. Perhaps Apple's copy of it has
    /// the new one only later.
    private mutating func buyMore(_ random: inout SplitMix64) {
        guard let former = claims.randomElement(using: &random), case .genuine = former.truth,
            former.purchases.count < 5, let environment = former.purchases.first?.purchase.environment,
            let bought = purchase(environment, isOwn: true, &random)
        else { return claimNewPurchases(&random) }
        let number = claims.count
        let order: OrderID? = Int.random(in: 0..<4, using: &random) == 0 ? nil : OrderID("order-\(number)")
        let isLate = Bool.random(using: &random)
        purchases.append(bought)
        add(
            ScriptedClaim(
                number: number,
                claimant: claimant(
                    app: former.claimant.bundleID, user: former.claimant.userID, number: number, id: nil, order: order),
                claim: Claim.nothing, evidence: .receipt(base64: EvidenceText("r\(number)")),
                purchases: former.purchases + [bought],
                truth: isLate ? .growing(clock + Int64.random(in: 0...60_000, using: &random)) : .genuine,
                endpoints: Self.receiptEndpoints(environment), verifiedBy: .verifyReceipt, owesCall: former.owesCall,
                repeats: former.repeats, whenVerifyReceiptUnavailable: Self.outagePolicy(former.claimant.bundleID),
                doubtsNothingNew: true), &random)
    }

    /// A receipt with purchases that several people have claimed, as on a shared device.
    private mutating func claimMixture(_ random: inout SplitMix64) {
        guard let one = claims.randomElement(using: &random), case .genuine = one.truth,
            let environment = one.purchases.first?.purchase.environment,
            let other = claims.filter({ Self.mixes($0, one, environment) }).randomElement(using: &random)
        else { return claimNewPurchases(&random) }
        var taken: Set<GrantReference> = []
        let mixed = (other.purchases + one.purchases).filter { granted in
            taken.insert(GrantReference(environment: environment, transactionID: granted.purchase.transactionID))
                .inserted
        }
        let number = claims.count
        add(
            ScriptedClaim(
                number: number,
                claimant: claimant(
                    app: one.claimant.bundleID, user: one.claimant.userID, number: number, id: nil, order: nil),
                claim: Claim.nothing, evidence: .receipt(base64: EvidenceText("r\(number)")), purchases: mixed,
                truth: .genuine, endpoints: Self.receiptEndpoints(environment), verifiedBy: .verifyReceipt,
                owesCall: one.owesCall, repeats: one.repeats,
                whenVerifyReceiptUnavailable: Self.outagePolicy(one.claimant.bundleID), doubtsNothingNew: true),
            &random)
    }

    private static func mixes(_ one: ScriptedClaim, _ other: ScriptedClaim, _ environment: Environment) -> Bool {
        guard case .genuine = one.truth, one.claimant.bundleID == other.claimant.bundleID, one.number != other.number
        else { return false }
        return one.purchases.first?.purchase.environment == environment
    }

    private static func receiptEndpoints(_ environment: Environment) -> [Endpoint] {
        let production = Endpoint(.verifyReceipt, .production)
        return environment == .production ? [production] : [production, Endpoint(.verifyReceipt, .sandbox)]
    }

    private static func outagePolicy(_ app: BundleID) -> VerifyReceiptOutagePolicy {
        app == "app.quiet" ? .local : .wait
    }

    /// A durable purchase has another transaction id on the next device, and the same original.
    private mutating func restore(_ random: inout SplitMix64) {
        guard let original = claims.randomElement(using: &random),
            let granted = original.purchases.first(where: { $0.type == .nonConsumable }), case .genuine = original.truth
        else { return claimNewPurchases(&random) }
        nextTransaction += 1
        let before = granted.purchase
        let purchase = Purchase(
            transactionID: TransactionID(String(nextTransaction)),
            originalTransactionID: before.originalTransactionID, webOrderLineItemID: nil, productID: before.productID,
            quantity: 1,
            environment: before.environment, purchasedAt: before.purchasedAt, expiresAt: nil, revokedAt: nil,
            isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: before.type, payment: nil, offer: nil)
        guard let restored = GrantablePurchase(purchase, of: granted.product) else { return }
        let number = claims.count
        let user: UserID = Int.random(in: 0..<4, using: &random) == 0 ? "thief" : original.claimant.userID
        add(
            ScriptedClaim(
                number: number,
                claimant: claimant(app: original.claimant.bundleID, user: user, number: number, id: nil, order: nil),
                claim: Claim.nothing, evidence: .signedTransaction(EvidenceText("s\(number)")), purchases: [restored],
                truth: .genuine, endpoints: [], verifiedBy: .signedTransaction, owesCall: original.owesCall,
                repeats: original.repeats), &random)
    }

    /// A producer's mistake: one id for two submissions of other content.
    private mutating func reuseID(_ random: inout SplitMix64) {
        guard let original = claims.randomElement(using: &random) else { return }
        claimNewPurchases(&random, like: original)
    }

    private mutating func claimNewPurchases(_ random: inout SplitMix64, like original: ScriptedClaim? = nil) {
        let number = claims.count
        let app = original?.claimant.bundleID ?? randomApp(&random)
        let user = original?.claimant.userID ?? user(&random)
        let drawn = Int.random(in: 0..<10, using: &random)
        let kind = options.bareIDs && drawn < 5 ? 9 : drawn
        let count = kind >= 6 && Bool.random(using: &random) ? Int.random(in: 1...5, using: &random) : 1
        let environment: Environment = Int.random(in: 0..<6, using: &random) == 0 ? .sandbox : .production
        let bought = (0..<count).compactMap { _ in purchase(environment, isOwn: original != nil, &random) }
        guard let newest = bought.last else { return }
        let order: OrderID? = Bool.random(using: &random) ? OrderID("order-\(number)") : nil
        let claimant = claimant(app: app, user: user, number: number, id: original?.claimant.submissionID, order: order)
        let owesCall = app == Script.calling
        let repeats: RepeatPolicy = app == "app.quiet" ? .ignore : .publish
        var way = Way(endpoints: [], verifiedBy: .signedTransaction)
        var claim = Claim.nothing
        let evidence: Evidence
        switch kind {
        case 0..<6: evidence = .signedTransaction(EvidenceText("s\(number)"))
        case 6..<9:
            evidence = .receipt(base64: EvidenceText("r\(number)"))
            way.verifiedBy = .verifyReceipt
            way.endpoints = Self.receiptEndpoints(environment)
            if Bool.random(using: &random) {
                claim = Claim(
                    transactionID: newest.purchase.transactionID, productID: nil, appAccountToken: nil,
                    environment: nil, submittedAt: nil)
            }
        default:
            evidence = .transactionID(newest.purchase.transactionID)
            way.verifiedBy = .serverAPI
            let production = Endpoint(.serverAPI, .production, key: app.rawValue)
            way.endpoints = [production]
            if environment == .sandbox {
                way.endpoints.append(Endpoint(.serverAPI, .sandbox, key: app.rawValue))
            } else if Int.random(in: 0..<3, using: &random) == 0 {
                way.endpoints.append(production)
            }
            // A bare number is production's: who means the sandbox's says so.
            claim = Claim(
                transactionID: newest.purchase.transactionID, productID: nil, appAccountToken: nil,
                environment: environment == .sandbox ? .sandbox : nil, submittedAt: nil)
        }
        let truth = truth(
            asked: !way.endpoints.isEmpty, isSigned: way.verifiedBy != .verifyReceipt, of: newest,
            several: count > 1 && kind < 9, &random)
        if case .forged = truth {} else { purchases.append(contentsOf: bought) }
        let isReceipt = kind >= 6 && kind < 9
        add(
            ScriptedClaim(
                number: number, claimant: claimant, claim: claim, evidence: evidence,
                purchases: kind == 9 ? [newest] : bought, truth: truth, endpoints: way.endpoints,
                verifiedBy: way.verifiedBy, owesCall: owesCall, repeats: repeats,
                whenVerifyReceiptUnavailable: isReceipt ? Self.outagePolicy(app) : .wait,
                doubtsNothingNew: isReceipt && claim.transactionID == nil), &random)
    }

    private struct Way {
        var endpoints: [Endpoint]
        var verifiedBy: VerifiedBy
    }

    private func truth(
        asked: Bool, isSigned: Bool, of purchase: GrantablePurchase, several: Bool, _ random: inout SplitMix64
    ) -> ScriptedClaim.Truth {
        let id = purchase.purchase.transactionID
        let rejection = Rejection(.transactionRevoked, "Apple took it back.", transactionID: id)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<2: return .forged(Rejection(asked ? .receiptNotAuthentic : .signatureInvalid, "Forged."))
        case 2 where options.verdictsChange: return .changing(rejection)
        case 3 where asked: return .late(clock + Int64.random(in: 0...60_000, using: &random))
        case 4 where asked: return .never(Rejection(.transactionNotFound, "Apple never knew it.", transactionID: id))
        case 5 where asked: return .held(clock + Int64.random(in: 0...600_000, using: &random))
        case 6 where asked && several, 7 where asked && several:
            return .growing(clock + Int64.random(in: 0...60_000, using: &random))
        case 8..<12 where options.clocksAreSlow && isSigned: return .ahead(clock + Int64(records.count % 8) * 1000)
        default: return .genuine
        }
    }

    /// - Parameter isOwn: Whether its number is no other purchase's. Otherwise two claims under one id would have one
    ///   content, and different truths.
    private mutating func purchase(
        _ environment: Environment, isOwn: Bool, _ random: inout SplitMix64
    ) -> GrantablePurchase? {
        nextTransaction += 1
        // The same number in both environments is two purchases.
        if environment == .sandbox, Bool.random(using: &random), !isOwn,
            let other = purchases.randomElement(using: &random)
        {
            return GrantablePurchase(
                Purchase(
                    transactionID: other.purchase.transactionID,
                    originalTransactionID: other.purchase.transactionID, webOrderLineItemID: nil, productID: "gems",
                    quantity: 1,
                    environment: .sandbox, purchasedAt: Timestamp(milliseconds: clock), expiresAt: nil, revokedAt: nil,
                    isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: .consumable, payment: nil,
                    offer: nil),
                of: Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 1)]))
        }
        let id = TransactionID(String(nextTransaction))
        let type: ProductType = Int.random(in: 0..<4, using: &random) == 0 ? .nonConsumable : .consumable
        let product = ProductID(type == .consumable ? "gems" : "castle")
        let quantity = type == .consumable ? Int.random(in: 1...3, using: &random) : 1
        let extra = type == .consumable ? [] : [Item(item: "flag", quantity: 2)]
        return GrantablePurchase(
            Purchase(
                transactionID: id, originalTransactionID: id, webOrderLineItemID: nil, productID: product,
                quantity: quantity,
                environment: environment, purchasedAt: Timestamp(milliseconds: clock), expiresAt: nil, revokedAt: nil,
                isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: type, payment: nil, offer: nil),
            of: Product(id: product, type: type, items: [Item(item: product.rawValue, quantity: 10)] + extra))
    }

    private func claimant(
        app: BundleID, user: UserID, number: Int, id: SubmissionID?, order: OrderID?
    ) -> Claimant {
        Claimant(
            submissionID: id ?? SubmissionID("sub-\(number)"), userID: user, bundleID: app, orderID: order,
            traceparent: ScriptedClaim.traceparent(number))
    }

    private mutating func add(_ claim: ScriptedClaim, _ random: inout SplitMix64) {
        claims.append(claim)
        produce(.claim(claim), &random)
    }

    private mutating func produce(_ content: ScriptedRecord.Content, _ random: inout SplitMix64) {
        records.append(
            ScriptedRecord(
                number: records.count, partition: Int32.random(in: 0..<options.partitions, using: &random),
                producedAt: clock, content: content, isLarge: Bool.random(using: &random),
                endsWorkers: options.endsWorkers && records.count == options.submissions / 3))
    }

    private func randomApp(_ random: inout SplitMix64) -> BundleID {
        Script.apps.randomElement(using: &random) ?? "app.plain"
    }

    private func user(_ random: inout SplitMix64) -> UserID {
        UserID("user-\(Int.random(in: 0..<8, using: &random))")
    }
}
