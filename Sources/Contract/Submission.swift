internal import Cryptography

public enum Evidence: Hashable, Sendable {
    /// An App Store receipt: base64, in whatever form the client wrote it. The text is never an identity.
    case receipt(base64: EvidenceText)
    /// A StoreKit 2 signed transaction (compact JWS).
    case signedTransaction(EvidenceText)
    /// A bare transaction id, to be looked up.
    case transactionID(TransactionID)

    public var byteCount: Int {
        switch self {
        case .receipt(let text), .signedTransaction(let text): text.bytes.count
        case .transactionID(let id): id.rawValue.utf8.count
        }
    }
}

/// The text of a receipt or of a signed transaction, in UTF-8. It has kilobytes and is read several times. So it is a
/// slice of the record's bytes, not a string or a copy.
public struct EvidenceText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Keeps whatever it is a part of in memory.
    public let bytes: ArraySlice<UInt8>

    /// - Parameter bytes: UTF-8.
    public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    public init(_ text: String) { self.init(Array(text.utf8)[...]) }

    public init(stringLiteral text: String) { self.init(text) }

    /// As a string, which is a copy.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Its length alone: evidence is worth a purchase, and descriptions end up in logs.
    public var description: String { "\(bytes.count) bytes" }
}

/// The user, app and order of a submission: the part of it that its answer repeats.
public struct Claimant: Hashable, Sendable {
    public let submissionID: SubmissionID
    public let userID: UserID
    /// As the submission has it; empty where a malformed submission has none.
    public let bundleID: BundleID
    public let orderID: OrderID?
    /// W3C Trace Context of the submission's record, handed on to the event.
    public let traceparent: String?

    public init(
        submissionID: SubmissionID, userID: UserID, bundleID: BundleID, orderID: OrderID?, traceparent: String?
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
/// The client or the platform says everything in it; granted values come from Apple alone.
public struct Claim: Hashable, Sendable {
    /// The purchase of the evidence that is meant.
    public let transactionID: TransactionID?
    /// The product that the client says it bought.
    public let productID: ProductID?
    /// Lower-case UUID; never the nil UUID.
    public let appAccountToken: String?
    /// A hint only; Apple's reply decides.
    public let environment: Environment?
    public let submittedAt: Timestamp?

    public init(
        transactionID: TransactionID?, productID: ProductID?, appAccountToken: String?, environment: Environment?,
        submittedAt: Timestamp?
    ) {
        self.transactionID = transactionID
        self.productID = productID
        self.appAccountToken = appAccountToken
        self.environment = environment
        self.submittedAt = submittedAt
    }

    /// The words of a submission with evidence alone.
    public static let nothing = Claim(
        transactionID: nil, productID: nil, appAccountToken: nil, environment: nil, submittedAt: nil)

    /// The UUID that clients set where they have no account.
    private static let nilUUID = "00000000-0000-0000-0000-000000000000"

    /// An account token, which is a UUID, in lower case with its hyphens. It is also read without hyphens, in braces,
    /// after `urn:uuid:` (RFC 9562, section 4) and with white space around, as some programs write it. Nil for any
    /// other text, and for the nil UUID: neither names an account.
    public static func accountToken(_ text: String) -> String? {
        guard (32...maxAccountTokenBytes).contains(text.utf8.count) else { return nil }
        var rest = text.lowercased().utf8[...]
        if let colon = rest.lastIndex(of: UInt8(ascii: ":")) {
            guard rest[..<colon].drop(while: { isAroundToken($0) }).elementsEqual("urn:uuid".utf8) else { return nil }
            rest = rest[rest.index(after: colon)...]
        }
        var token: [UInt8] = []
        var digits = 0
        for byte in rest {
            if Hexadecimal.value(of: byte) != nil {
                if [8, 12, 16, 20].contains(digits) { token.append(UInt8(ascii: "-")) }
                token.append(byte)
                digits += 1
            } else if byte != UInt8(ascii: "-"), !isAroundToken(byte) {
                return nil
            }
        }
        let canonical = String(decoding: token, as: UTF8.self)
        return digits == 32 && canonical != nilUUID ? canonical : nil
    }

    /// Most bytes of a text that is read as an account token.
    private static let maxAccountTokenBytes = 64

    private static func isAroundToken(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
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
    /// When it was submitted. It is the time of its record, as far as that can be true. It is never later than the
    /// record was read, and never before its evidence was made, see ``SubmissionReading``. Ends of subscriptions are
    /// compared with it.
    public let receivedAt: Timestamp

    public init(
        claimant: Claimant, claim: Claim, evidence: Evidence, origin: Origin, receivedAt: Timestamp
    ) {
        self.claimant = claimant
        self.claim = claim
        self.evidence = evidence
        self.origin = origin
        self.receivedAt = receivedAt
    }

    /// The same submission, received at another moment.
    public func received(at moment: Timestamp) -> Submission {
        Submission(claimant: claimant, claim: claim, evidence: evidence, origin: origin, receivedAt: moment)
    }

    /// The same submission, of a purchase that Apple's records have under another id.
    public func claiming(_ transactionID: TransactionID) -> Submission {
        let claim = Claim(
            transactionID: transactionID, productID: claim.productID, appAccountToken: claim.appAccountToken,
            environment: claim.environment, submittedAt: claim.submittedAt)
        return Submission(claimant: claimant, claim: claim, evidence: evidence, origin: origin, receivedAt: receivedAt)
    }

    public var id: SubmissionID { claimant.submissionID }
    public var userID: UserID { claimant.userID }
    public var bundleID: BundleID { claimant.bundleID }
    public var orderID: OrderID? { claimant.orderID }
    public var traceparent: String? { claimant.traceparent }

    /// Written by hand, as a class has no other. A test changes each member that reflection finds.
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
