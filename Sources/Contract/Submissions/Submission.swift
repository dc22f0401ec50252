/// A submission's proof.
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

    /// Bytes of its text.
    public var byteCount: Int {
        switch self {
        case .receipt(let text), .signedTransaction(let text): text.bytes.count
        case .transactionID(let id): id.rawValue.utf8.count
        }
    }
}

/// The text of a receipt or of a signed transaction, in UTF-8: kilobytes that are read several times on their way, and
/// therefore bytes, and a part of the record that they came in rather than a copy.
public struct EvidenceText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Keeps whatever it is a part of in memory.
    public let bytes: ArraySlice<UInt8>

    /// - Parameter bytes: UTF-8.
    public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// A copy of a string's bytes.
    public init(_ text: String) { self.init(Array(text.utf8)[...]) }

    public init(stringLiteral text: String) { self.init(text) }

    /// The same text as a copy, which keeps nothing else in memory.
    public var alone: EvidenceText { EvidenceText(Array(bytes)[...]) }

    /// As a string, which is a copy.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Its length alone: evidence is worth a purchase, and descriptions end up in logs.
    public var description: String { "\(bytes.count) bytes" }
}

/// The user, app and order of a submission: the part of it that its answer repeats.
public struct Claimant: Hashable, Sendable {
    public let submissionID: SubmissionID
    public let userID: UserID
    /// As the submission has it; empty where a malformed one has none.
    public let bundleID: BundleID
    public let orderID: OrderID?
    /// W3C Trace Context of the submission's record, handed on to the event.
    public let traceparent: String?

    /// The part of a submission that its answer repeats.
    public init(
        submissionID: SubmissionID, userID: UserID, bundleID: BundleID, orderID: OrderID? = nil,
        traceparent: String? = nil
    ) {
        self.submissionID = submissionID
        self.userID = userID
        self.bundleID = bundleID
        self.orderID = orderID
        self.traceparent = traceparent
    }
}

/// A submission's words about the purchase that it claims, beside its evidence.
///
/// Everything in it is said by the client or the platform; what is granted comes from Apple alone.
public struct Claim: Hashable, Sendable {
    /// The purchase of the evidence that is meant.
    public let transactionID: TransactionID?
    /// The product that the client says it bought.
    public let productID: ProductID?
    /// Lower-case UUID.
    public let appAccountToken: String?
    /// A hint only; Apple's answer decides.
    public let environment: Environment?
    public let submittedAt: Timestamp?

    /// A claim whose members were checked.
    public init(
        transactionID: TransactionID? = nil, productID: ProductID? = nil, appAccountToken: String? = nil,
        environment: Environment? = nil, submittedAt: Timestamp? = nil
    ) {
        self.transactionID = transactionID
        self.productID = productID
        self.appAccountToken = appAccountToken
        self.environment = environment
        self.submittedAt = submittedAt
    }
}

/// One message of the input topic: somebody claims a purchase.
///
/// Immutable and counted, so that its way through the threads copies one reference.
public final class Submission: Sendable, Hashable {
    public let claimant: Claimant
    public let claim: Claim
    public let evidence: Evidence
    public let origin: Origin
    /// When its record was written to the input topic, by the record's time and never later than it was read.
    public let receivedAt: Timestamp

    /// A submission whose members were checked.
    public init(
        claimant: Claimant, claim: Claim = Claim(), evidence: Evidence, origin: Origin, receivedAt: Timestamp
    ) {
        self.claimant = claimant
        self.claim = claim
        self.evidence = evidence
        self.origin = origin
        self.receivedAt = receivedAt
    }

    public var id: SubmissionID { claimant.submissionID }
    public var userID: UserID { claimant.userID }
    public var bundleID: BundleID { claimant.bundleID }
    public var orderID: OrderID? { claimant.orderID }
    public var traceparent: String? { claimant.traceparent }

    /// The same submission, which does not keep its record in memory.
    public var alone: Submission {
        Submission(claimant: claimant, claim: claim, evidence: evidence.alone, origin: origin, receivedAt: receivedAt)
    }

    public static func == (left: Submission, right: Submission) -> Bool {
        left === right
            || (left.claimant == right.claimant && left.claim == right.claim && left.evidence == right.evidence
                && left.origin == right.origin && left.receivedAt == right.receivedAt)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(claimant)
        hasher.combine(origin)
    }
}
