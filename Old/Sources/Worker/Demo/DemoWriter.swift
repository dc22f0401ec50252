import AppStoreSimulator
import Foundation
import Purchases

/// Writes the demo's submissions, each with the answer that must come.
struct DemoWriter {
    /// A claim that is to be granted, to be asked for again.
    struct Claim {
        let number: Int
        let userID: String
        let orderID: String
        let environment: ReceiptEnvironment
        let purchases: [SimulatedPurchase]
        let submission: WorkloadSubmission
    }

    /// What tells this run's records from those of others.
    var mark: String { "-\(run)-" }

    /// Claims to be granted, in the order written.
    private(set) var claimed: [Claim] = []

    /// What the App Store Server API must know before the submissions are sent.
    private(set) var registrations: [Registration] = []

    let now: Timestamp
    private let issuer: DemoIssuer
    private var written: [WorkloadSubmission] = []
    private var deferred: [(kind: String, SubmissionMessage, WorkloadSubmission.Expectation)] = []
    private var number = 0
    private var lastTransaction: Int64
    /// Part of every id, so that a run on a broker that keeps its data is told from those before.
    private let run: String

    init(now: Timestamp, issuer: DemoIssuer) {
        self.now = now
        run = String(now.milliseconds, radix: 36)
        // 1,000 transactions a millisecond: two runs never meet.
        lastTransaction = 2_000_000_000_000_000 + now.milliseconds % 1_000_000_000_000 * 1_000
        self.issuer = issuer
    }

    /// What was written since it was last taken.
    mutating func take() -> [WorkloadSubmission] {
        defer { written = [] }
        return written
    }

    mutating func purchase(
        _ product: ProductID, _ kind: ProductType = .consumable, quantity: Int = 1, cancelled: Bool = false
    ) -> SimulatedPurchase {
        SimulatedPurchase(
            transactionID: nextTransaction(), productID: product, kind: kind, quantity: quantity,
            purchasedAt: now.advanced(by: .seconds(-300)),
            cancelledAt: cancelled ? now.advanced(by: .seconds(-60)) : nil,
            cancellationReason: cancelled ? "0" : nil)
    }

    /// Paid periods of one subscription, the last of which still runs.
    mutating func periods(_ product: ProductID, count: Int) -> [SimulatedPurchase] {
        let original = nextTransaction()
        let start = now.advanced(by: .seconds(-600))
        var periods: [SimulatedPurchase] = []
        for period in 0..<count {
            // All periods run: grants of periods that are over have their own rules.
            let expiry = now.advanced(by: .seconds(86_400 * (period + 1)))
            let transaction = period == 0 ? original : nextTransaction()
            periods.append(
                SimulatedPurchase(
                    transactionID: transaction, originalTransactionID: original, productID: product,
                    kind: .autoRenewable, purchasedAt: start.advanced(by: .seconds(60 * period)),
                    originalPurchasedAt: start, expiresAt: expiry, webOrderLineItemID: lastTransaction + 1))
        }
        return periods
    }

    mutating func claim(
        _ kind: String, _ purchase: SimulatedPurchase, environment: ReceiptEnvironment = .production,
        faults: [Fault] = [], app: BundleID = DemoCatalogue.bundleID
    ) throws {
        try claim(
            kind, [purchase], claimed: purchase.transactionID, environment: environment, faults: faults, app: app)
    }

    mutating func claim(
        _ kind: String, _ purchases: [SimulatedPurchase], claimed transaction: TransactionID?,
        environment: ReceiptEnvironment = .production, faults: [Fault] = [], app: BundleID = DemoCatalogue.bundleID
    ) throws {
        var message = try message(purchases, environment: environment, transaction: transaction, app: app)
        message.bundleId = app.rawValue
        let submission = try submission(
            kind, message, .granted(purchases.map(\.transactionID)), faults: faults,
            transaction: purchases.first?.transactionID)
        claimed.append(
            Claim(
                number: number, userID: message.userId, orderID: message.orderId ?? "", environment: environment,
                purchases: purchases, submission: submission))
    }

    mutating func fail(
        _ kind: String, _ purchase: SimulatedPurchase, _ reason: FailureReason, app: BundleID = DemoCatalogue.bundleID,
        submittedApp: BundleID = DemoCatalogue.bundleID, product: ProductID? = nil, forged: Bool = false,
        truncated: Bool = false
    ) throws {
        var message = try message([purchase], transaction: purchase.transactionID, app: app, forged: forged)
        message = SubmissionMessage(
            submissionId: message.submissionId, userId: message.userId, bundleId: submittedApp.rawValue,
            receipt: truncated ? message.receipt.map { String($0.prefix($0.utf8.count / 8 * 4)) } : message.receipt,
            transactionId: message.transactionId, productId: product?.rawValue, orderId: message.orderId,
            submittedAt: message.submittedAt)
        _ = try submission(kind, message, .failed(reason))
    }

    /// Claims a purchase with a signed transaction; `signedAt` is nil for now.
    mutating func claimSigned(
        _ kind: String, _ purchase: SimulatedPurchase, environment: Environment = .production,
        signedAt: Timestamp? = nil, app: BundleID = DemoCatalogue.bundleID, isRegistered: Bool = false
    ) throws {
        let transaction = TransactionSpecification(purchase, bundleID: app, environment: environment)
        if isRegistered { registrations.append(Registration(transaction)) }
        let message = try signedMessage(transaction, signedAt: signedAt, app: app)
        try submission(kind, message, .granted([purchase.transactionID]))
    }

    /// A signed transaction that is refused.
    mutating func failSigned(
        _ kind: String, _ transaction: TransactionSpecification, _ reason: FailureReason, signedAt: Timestamp? = nil,
        forged: Bool = false, app: BundleID = DemoCatalogue.bundleID
    ) throws {
        try submission(
            kind, signedMessage(transaction, signedAt: signedAt, forged: forged, app: app), .failed(reason))
    }

    /// The same purchase, signed anew by the App Store and sent by its owner and by somebody else.
    mutating func resendSigned(_ kind: String, _ purchase: SimulatedPurchase, thiefKind: String) throws {
        let transaction = TransactionSpecification(
            purchase, bundleID: DemoCatalogue.bundleID, environment: .production)
        let first = try signedMessage(transaction, signedAt: now)
        try submission(kind, first, .granted([purchase.transactionID]))
        var again = try signedMessage(transaction, signedAt: now.advanced(by: .seconds(1)))
        again.userId = first.userId
        again.orderId = first.orderId
        deferred.append((kind, again, .granted([purchase.transactionID])))
        deferred.append(
            (thiefKind, try signedMessage(transaction, signedAt: now), .failed(.ownedByAnotherUser)))
    }

    /// Writes what was put off until the first wave has its answers.
    mutating func writeDeferred() throws {
        for (kind, message, expectation) in deferred {
            try submission(kind, message, expectation, isRepeat: true)
        }
        deferred = []
    }

    /// Claims a purchase with its bare transaction id.
    mutating func claimID(
        _ kind: String, _ purchase: SimulatedPurchase, appearance: Registration.Appearance = .atOnce
    ) throws {
        let transaction = TransactionSpecification(
            purchase, bundleID: DemoCatalogue.bundleID, environment: .production)
        registrations.append(Registration(transaction, appearance: appearance))
        var message = emptyMessage(app: DemoCatalogue.bundleID)
        message.transactionId = purchase.transactionID.rawValue
        try submission(kind, message, .granted([purchase.transactionID]))
    }

    /// Makes a purchase known to the App Store Server API.
    mutating func register(_ purchase: SimulatedPurchase, app: BundleID) {
        registrations.append(
            Registration(TransactionSpecification(purchase, bundleID: app, environment: .production)))
    }

    mutating func quarantine(_ kind: String, _ value: [UInt8]?) {
        number += 1
        written.append(
            WorkloadSubmission(
                kind: kind, submissionID: nil, key: Array("unreadable-\(run)-\(number)".utf8), value: value,
                expectation: .quarantined))
    }

    mutating func malformed(_ kind: String, variant: Int) {
        number += 1
        let id = "demo-\(run)-\(number)"
        let rest = [
            #""bundleId":"com.example.game""#, #""bundleId":7,"receipt":"AAAA""#, #""receipt":"AAAA","receipt":"BBBB""#,
        ]
        let text = #"{"submissionId":"\#(id)","userId":"user-\#(run)-\#(number)",\#(rest[variant])}"#
        written.append(
            WorkloadSubmission(
                kind: kind, submissionID: SubmissionID(id), key: Array("user-\(run)-\(number)".utf8),
                value: Array(text.utf8),
                expectation: .failed(.malformedSubmission)))
    }

    /// The very same message once more.
    mutating func again(_ kind: String, _ claim: Claim) {
        let original = claim.submission
        written.append(
            WorkloadSubmission(
                kind: kind, submissionID: original.submissionID, key: original.key, value: original.value,
                expectation: original.expectation, isRepeat: true))
    }

    /// The same user sends the purchase under a new submission id, without an order.
    mutating func reclaim(_ kind: String, _ claim: Claim) throws {
        var message = try message(of: claim)
        message.orderId = nil
        _ = try submission(kind, message, claim.submission.expectation, isRepeat: true)
    }

    mutating func steal(_ kind: String, _ claim: Claim) throws {
        let message = try message(of: claim, userID: "thief-\(run)-\(claim.number)")
        _ = try submission(kind, message, .failed(.ownedByAnotherUser))
    }

    mutating func reorder(_ kind: String, _ claim: Claim) throws {
        var message = try message(of: claim)
        message.orderId = "order-again-\(run)-\(claim.number)"
        _ = try submission(kind, message, .failed(.grantedToAnotherOrder))
    }

    /// What a second device sends: the same purchase under a new transaction id.
    mutating func restore(_ kind: String, _ claim: Claim) throws {
        var restored = claim.purchases[0]
        restored.transactionID = nextTransaction()
        var message = try message([restored], transaction: restored.transactionID, userID: claim.userID)
        message.orderId = nil
        _ = try submission(kind, message, claim.submission.expectation, isRepeat: true)
    }

    private mutating func nextTransaction() -> TransactionID {
        lastTransaction += 7
        return TransactionID(String(lastTransaction))
    }

    private mutating func message(of claim: Claim, userID: String? = nil) throws -> SubmissionMessage {
        var message = try message(
            claim.purchases, environment: claim.environment,
            transaction: claim.purchases.count == 1 ? claim.purchases[0].transactionID : nil,
            userID: userID ?? claim.userID)
        message.orderId = claim.orderID
        return message
    }

    private mutating func message(
        _ purchases: [SimulatedPurchase], environment: ReceiptEnvironment = .production, transaction: TransactionID?,
        app: BundleID = DemoCatalogue.bundleID, forged: Bool = false, userID: String? = nil
    ) throws -> SubmissionMessage {
        number += 1
        let specification = ReceiptSpecification(
            bundleID: app, environment: environment, purchases: purchases, creationDate: now,
            // 5 to 40 KB, the sizes seen in the field; small ones are the rule.
            targetSize: 5_000 + (number * 7919 % 100 < 90 ? number * 7919 % 6_000 : number * 7919 % 35_000))
        return SubmissionMessage(
            submissionId: "demo-\(run)-\(number)", userId: userID ?? "user-\(run)-\(number)",
            bundleId: DemoCatalogue.bundleID.rawValue,
            receipt: try issuer.receipt(specification, forged: forged), transactionId: transaction?.rawValue,
            orderId: "order-\(run)-\(number)", submittedAt: now.rfc3339)
    }

    private mutating func signedMessage(
        _ transaction: TransactionSpecification, signedAt: Timestamp?, forged: Bool = false,
        app: BundleID = DemoCatalogue.bundleID
    ) throws -> SubmissionMessage {
        var message = emptyMessage(app: app)
        message.signedTransaction = try issuer.signed(transaction, at: signedAt ?? now, forged: forged)
        return message
    }

    private mutating func emptyMessage(app: BundleID) -> SubmissionMessage {
        number += 1
        return SubmissionMessage(
            submissionId: "demo-\(run)-\(number)", userId: "user-\(run)-\(number)", bundleId: app.rawValue,
            orderId: "order-\(run)-\(number)", submittedAt: now.rfc3339)
    }

    @discardableResult
    private mutating func submission(
        _ kind: String, _ message: SubmissionMessage, _ expectation: WorkloadSubmission.Expectation,
        isRepeat: Bool = false, faults: [Fault] = [], transaction: TransactionID? = nil
    ) throws -> WorkloadSubmission {
        let submission = WorkloadSubmission(
            kind: kind, submissionID: SubmissionID(message.submissionId), key: Array(message.userId.utf8),
            value: try message.bytes(), expectation: expectation, isRepeat: isRepeat, faults: faults,
            transactionID: transaction)
        written.append(submission)
        return submission
    }
}
