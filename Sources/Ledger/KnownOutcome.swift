public import Contract

/// The outcome that the ledger has for a record that may be a redelivery, looked up by its origin before it is checked.
///
/// It counts only for a record of the same app, submission and user: a topic that was made anew has other records at old
/// offsets.
public struct KnownOutcome: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// It has grants of its own.
        case granted
        /// Another submission's grant answers it; the event is a marked copy, for apps that publish repeats.
        case repeated
        case failed
        /// It is in `retries`.
        case waiting
    }

    public let origin: Origin
    public let bundleID: BundleID
    public let submissionID: SubmissionID
    public let userID: UserID
    public let kind: Kind
    /// The events that are told again; none for a row of `retries` and for a grant that owes a call.
    public let publish: [StoredEvent]

    public init(
        origin: Origin, bundleID: BundleID, submissionID: SubmissionID, userID: UserID, kind: Kind,
        publish: [StoredEvent]
    ) {
        self.origin = origin
        self.bundleID = bundleID
        self.submissionID = submissionID
        self.userID = userID
        self.kind = kind
        self.publish = publish
    }
}

/// A question to `grants` before a call to the App Store Server API.
public struct GrantLookup: Hashable, Sendable {
    public let bundleID: BundleID
    public let userID: UserID
    public let transactionID: TransactionID
    /// The environment that the submission names; nil counts as production.
    public let environment: Environment?
    public let orderID: OrderID?
    public let productID: ProductID?

    public init(
        bundleID: BundleID, userID: UserID, transactionID: TransactionID, environment: Environment?, orderID: OrderID?,
        productID: ProductID?
    ) {
        self.bundleID = bundleID
        self.userID = userID
        self.transactionID = transactionID
        self.environment = environment
        self.orderID = orderID
        self.productID = productID
    }
}
