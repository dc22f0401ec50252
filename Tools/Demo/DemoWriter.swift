import AppStoreSimulator
import Contract

/// Writes the demo's submissions, each with the answer that must come.
struct DemoWriter {
    /// A claim of one purchase that is to be granted, to be asked for again.
    struct Claim {
        let message: SubmissionMessage
        let purchase: SimulatedPurchase
        let submission: DemoSubmission
    }

    let now: Timestamp
    private let genuine: (receipts: ReceiptFactory, transactions: SignedTransactionFactory)
    /// Signed by an authority that nobody trusts.
    private let forged: (receipts: ReceiptFactory, transactions: SignedTransactionFactory)
    private var number = 0
    private var lastTransaction: Int64 = 2_000_000_000_000_000

    private(set) var written: [DemoSubmission] = []
    /// Claims of one purchase by a receipt, in the order written.
    private(set) var claims: [Claim] = []
    /// Claims of one purchase by a signed transaction, in the order written.
    private(set) var signedClaims: [Claim] = []
    /// Transactions that the App Store Server API must know.
    private(set) var registrations: [Registration] = []
    /// Each purchase that was paid for, and who paid.
    private(set) var paid: [TransactionID: UserID] = [:]

    init(authority: SimulatorAuthority, now: Timestamp) throws {
        let forger = try SimulatorAuthority(now: now)
        self.now = now
        genuine = (try ReceiptFactory(authority: authority), SignedTransactionFactory(authority: authority))
        forged = (try ReceiptFactory(authority: forger), SignedTransactionFactory(authority: forger))
    }

    /// Hands over the submissions since the last call.
    mutating func take() -> [DemoSubmission] {
        defer { written = [] }
        return written
    }

    // MARK: Purchases

    mutating func purchase(
        _ product: ProductID, _ kind: ProductType = .consumable, quantity: Int = 1, isCancelled: Bool = false
    ) -> SimulatedPurchase {
        SimulatedPurchase(
            transactionID: nextTransaction(), productID: product, kind: kind, quantity: quantity,
            purchasedAt: now.advanced(by: .seconds(-300)),
            cancelledAt: isCancelled ? now.advanced(by: .seconds(-60)) : nil,
            cancellationReason: isCancelled ? "0" : nil)
    }

    /// Two paid periods of one subscription, which both still run.
    mutating func periods(_ product: ProductID) -> [SimulatedPurchase] {
        let original = nextTransaction()
        let start = now.advanced(by: .seconds(-600))
        return [original, nextTransaction()].enumerated().map { index, transaction in
            SimulatedPurchase(
                transactionID: transaction, originalTransactionID: original, productID: product,
                kind: .autoRenewable, purchasedAt: start.advanced(by: .seconds(60 * index)),
                originalPurchasedAt: start, expiresAt: now.advanced(by: .seconds(86_400 * (index + 1))),
                webOrderLineItemID: lastTransaction + Int64(index) + 1)
        }
    }

    // MARK: Submissions that are granted

    /// Claims purchases with a receipt; one alone is named by its id, as apps do.
    mutating func claim(
        _ kind: String, _ purchases: [SimulatedPurchase], environment: ReceiptEnvironment = .production,
        faults: [Fault] = [], app: BundleID = Catalogue.game
    ) throws {
        var message = message(app)
        message.receipt = try receipt(purchases, environment, app)
        message.transactionID = purchases.count == 1 ? purchases[0].transactionID : nil
        let scripted = purchases.first.flatMap { faults.isEmpty ? nil : ($0.transactionID, faults) }
        let submission = submit(kind, message, .granted(purchases.map(\.transactionID)), faults: scripted)
        if purchases.count == 1, environment == .production, app == Catalogue.game {
            claims.append(Claim(message: message, purchase: purchases[0], submission: submission))
        }
    }

    /// Claims a purchase with a signed transaction.
    mutating func claimSigned(
        _ kind: String, _ purchase: SimulatedPurchase, environment: Environment = .production,
        signedDaysAgo days: Int = 0, app: BundleID = Catalogue.game
    ) throws {
        let transaction = TransactionSpecification(purchase, bundleID: app, environment: environment)
        if days > 0 { registrations.append(Registration(transaction)) }
        let message = try signedMessage(transaction, signedDaysAgo: days)
        let submission = submit(kind, message, .granted([purchase.transactionID]))
        if environment == .production, days == 0 {
            signedClaims.append(Claim(message: message, purchase: purchase, submission: submission))
        }
    }

    /// Claims a purchase with its bare transaction id.
    mutating func claimID(
        _ kind: String, _ purchase: SimulatedPurchase, appearance: Registration.Appearance = .atOnce
    ) {
        register(purchase, app: Catalogue.game, appearance: appearance)
        var message = message(Catalogue.game)
        message.transactionID = purchase.transactionID
        submit(kind, message, .granted([purchase.transactionID]))
    }

    /// Makes a purchase known to the App Store Server API.
    mutating func register(
        _ purchase: SimulatedPurchase, app: BundleID, appearance: Registration.Appearance = .atOnce
    ) {
        let transaction = TransactionSpecification(purchase, bundleID: app, environment: .production)
        registrations.append(Registration(transaction, appearance: appearance))
    }

    // MARK: Submissions that are refused

    /// Claims a purchase with a receipt that is refused.
    mutating func fail(
        _ kind: String, _ purchase: SimulatedPurchase, _ reason: FailureReason,
        receiptOf app: BundleID = Catalogue.game, submittedApp: BundleID = Catalogue.game, product: ProductID? = nil,
        isForged: Bool = false, isTruncated: Bool = false
    ) throws {
        var message = message(submittedApp)
        let text = try receipt([purchase], .production, app, isForged: isForged)
        message.receipt = isTruncated ? String(text.prefix(text.utf8.count / 8 * 4)) : text
        message.transactionID = purchase.transactionID
        message.productID = product
        submit(kind, message, .failed(reason))
    }

    /// Claims a purchase with a signed transaction that is refused.
    mutating func failSigned(
        _ kind: String, _ purchase: SimulatedPurchase, _ reason: FailureReason, signedFor app: BundleID? = nil,
        submittedApp: BundleID = Catalogue.game, signedDaysAgo days: Int = 0, isForged: Bool = false
    ) throws {
        let transaction = TransactionSpecification(
            purchase, bundleID: app ?? submittedApp, environment: .production)
        var message = try signedMessage(transaction, signedDaysAgo: days, isForged: isForged)
        message.bundleID = submittedApp
        submit(kind, message, .failed(reason))
    }

    mutating func unreadable(_ kind: String, _ value: [UInt8]?) {
        number += 1
        written.append(
            DemoSubmission(
                kind: kind, id: nil, key: Array("unreadable-\(number)".utf8), value: value, expectation: .quarantined))
    }

    /// A message with a readable submission and user, and the rest as given.
    mutating func malformed(_ kind: String, _ rest: String) {
        number += 1
        let (id, user) = ("demo-\(number)", "user-\(number)")
        written.append(
            DemoSubmission(
                kind: kind, id: SubmissionID(id), key: Array(user.utf8),
                value: Array(#"{"submissionId":"\#(id)","userId":"\#(user)",\#(rest)}"#.utf8),
                expectation: .failed(.malformedSubmission)))
    }

    // MARK: Submissions about what is granted already

    /// The very same message once more.
    mutating func again(_ kind: String, _ claim: Claim) {
        written.append(
            DemoSubmission(
                kind: kind, id: claim.submission.id, key: claim.submission.key, value: claim.submission.value,
                expectation: .repeated(claim.purchase.transactionID)))
    }

    /// The same user sends the purchase under a new submission id.
    mutating func reclaim(_ kind: String, _ claim: Claim) {
        var message = renamed(claim)
        message.orderID = nil
        submit(kind, message, .repeated(claim.purchase.transactionID))
    }

    /// The same user asks for the same purchase for another order.
    mutating func reorder(_ kind: String, _ claim: Claim) {
        var message = renamed(claim)
        message.orderID = "order-again-\(number)"
        submit(kind, message, .failed(.grantedToAnotherOrder))
    }

    /// Another user sends the evidence.
    mutating func steal(_ kind: String, _ claim: Claim) {
        var message = renamed(claim)
        message.userID = "thief-\(number)"
        submit(kind, message, .failed(.ownedByAnotherUser))
    }

    /// The App Store signs the transaction anew, as after a new installation, and its owner sends it.
    mutating func resign(_ kind: String, _ claim: Claim) throws {
        var message = renamed(claim)
        message.orderID = nil
        let transaction = TransactionSpecification(
            claim.purchase, bundleID: Catalogue.game, environment: .production)
        message.signedTransaction = try genuine.transactions.signed(
            transaction, signedAt: now.advanced(by: .seconds(1)))
        submit(kind, message, .repeated(claim.purchase.transactionID))
    }

    /// A second device sends the same purchase under a new transaction id.
    mutating func restore(_ kind: String, _ claim: Claim) throws {
        var restored = claim.purchase
        restored.transactionID = nextTransaction()
        var message = renamed(claim)
        message.orderID = nil
        message.receipt = try receipt([restored], .production, Catalogue.game)
        message.transactionID = restored.transactionID
        submit(kind, message, .repeated(claim.purchase.transactionID))
    }

    // MARK: Parts

    private mutating func nextTransaction() -> TransactionID {
        lastTransaction += 7
        return TransactionID(String(lastTransaction))
    }

    private mutating func message(_ app: BundleID) -> SubmissionMessage {
        number += 1
        return SubmissionMessage(
            submissionID: "demo-\(number)", userID: "user-\(number)", bundleID: app, orderID: "order-\(number)",
            submittedAt: now)
    }

    private mutating func renamed(_ claim: Claim) -> SubmissionMessage {
        number += 1
        var message = claim.message
        message.submissionID = "demo-\(number)"
        return message
    }

    private mutating func signedMessage(
        _ transaction: TransactionSpecification, signedDaysAgo days: Int, isForged: Bool = false
    ) throws -> SubmissionMessage {
        var message = message(transaction.bundleID)
        message.signedTransaction = try (isForged ? forged : genuine).transactions.signed(
            transaction, signedAt: now.advanced(by: .seconds(-86_400 * days)))
        return message
    }

    private func receipt(
        _ purchases: [SimulatedPurchase], _ environment: ReceiptEnvironment, _ app: BundleID, isForged: Bool = false
    ) throws -> String {
        let specification = ReceiptSpecification(
            bundleID: app, environment: environment, purchases: purchases, creationDate: now,
            // 5 to 11 KB, as most receipts have.
            targetSize: 5_000 + number * 7919 % 6_000)
        return try (isForged ? forged : genuine).receipts.base64(specification)
    }

    @discardableResult
    private mutating func submit(
        _ kind: String, _ message: SubmissionMessage, _ expectation: DemoSubmission.Expectation,
        faults: (transaction: TransactionID, list: [Fault])? = nil
    ) -> DemoSubmission {
        let submission = DemoSubmission(
            kind: kind, id: SubmissionID(message.submissionID), key: Array(message.userID.utf8), value: message.bytes,
            expectation: expectation, faults: faults)
        written.append(submission)
        if case .granted(let transactions) = expectation {
            for transaction in transactions { paid[transaction] = UserID(message.userID) }
        }
        return submission
    }
}
