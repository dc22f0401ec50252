/// What a submission carries as proof.
public enum Evidence: Hashable, Sendable {
    /// An App Store receipt: base64, in whatever form the client wrote it. The text is never an identity.
    case receipt(base64: EvidenceText)
    /// A StoreKit 2 signed transaction (compact JWS).
    case signedTransaction(EvidenceText)
    /// A bare transaction id, to be looked up.
    case transactionID(TransactionID)

    /// The same evidence, which keeps nothing else in memory: a text may be a part of a record.
    public var alone: Evidence {
        switch self {
        case .receipt(let base64): .receipt(base64: base64.alone)
        case .signedTransaction(let text): .signedTransaction(text.alone)
        case .transactionID: self
        }
    }
}

/// One message of the input topic: somebody claims a purchase.
///
/// Everything in it is a claim of the client or the platform; what is granted comes from Apple alone.
public struct Submission: Hashable, Sendable {
    public let id: SubmissionID
    public let userID: UserID
    public let bundleID: BundleID
    public let evidence: Evidence
    /// Which purchase of the evidence is meant.
    public let transactionID: TransactionID?
    /// What the client says it bought.
    public let productID: ProductID?
    public let orderID: OrderID?
    /// Lower-case UUID; must equal Apple's where Apple has one.
    public let appAccountToken: String?
    /// A hint only; Apple's answer decides.
    public let environment: Environment?
    public let submittedAt: Timestamp?

    /// A submission whose members were checked by intake.
    public init(
        id: SubmissionID, userID: UserID, bundleID: BundleID, evidence: Evidence, transactionID: TransactionID? = nil,
        productID: ProductID? = nil, orderID: OrderID? = nil, appAccountToken: String? = nil,
        environment: Environment? = nil, submittedAt: Timestamp? = nil
    ) {
        self.id = id
        self.userID = userID
        self.bundleID = bundleID
        self.evidence = evidence
        self.transactionID = transactionID
        self.productID = productID
        self.orderID = orderID
        self.appAccountToken = appAccountToken
        self.environment = environment
        self.submittedAt = submittedAt
    }
}

extension Submission {
    /// The same claim with an empty receipt: what policies look at, at no cost in memory.
    public var claim: Submission { with(.receipt(base64: "")) }

    /// The same claim with other evidence.
    public func with(_ evidence: Evidence) -> Submission {
        Submission(
            id: id, userID: userID, bundleID: bundleID, evidence: evidence, transactionID: transactionID,
            productID: productID, orderID: orderID, appAccountToken: appAccountToken, environment: environment,
            submittedAt: submittedAt)
    }
}

/// Where a record stands in the input topic.
public struct Origin: Hashable, Sendable {
    public let topic: String
    public let partition: Int32
    public let offset: Int64

    /// A record's place.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}
