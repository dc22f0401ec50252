/// The content of a record of the input topic.
public enum SubmissionReading: Hashable, Sendable {
    /// A claim to verify.
    case submission(Submission)
    /// It names a submission and a user, and cannot be accepted: it fails, with an event.
    case malformed(MalformedSubmission)
    /// No submission or no user can be read from it: it goes to the quarantine topic as it came.
    case unreadable(reason: String)

    /// Largest record value that is looked into, in bytes. Receipts of long-time subscribers reach some 400 KB.
    public static let maxValueBytes = 2 << 20
    /// Longest `traceparent` header that is handed on (W3C Trace Context: 55 characters in version 00).
    static let maxTraceparentBytes = 128

    /// Reads one record by the rules of the message contract (`schemas/receipts.submitted.schema.json`).
    ///
    /// Unknown members are ignored, absent and `null` are the same, a member that stands twice is an error. Evidence
    /// stays a part of the record's value.
    /// - Parameter now: bounds ``Submission/receivedAt``, because producers' clocks may be ahead.
    public init(_ record: InputRecord, now: Timestamp) {
        guard let value = record.value else {
            self = .unreadable(reason: "no value")
            return
        }
        guard value.count <= Self.maxValueBytes else {
            self = .unreadable(reason: "larger than 2 MiB")
            return
        }
        let members: SubmissionMembers
        do throws(JSONUnreadable) {
            members = SubmissionMembers(try StrictJSON(value))
        } catch {
            self = .unreadable(reason: error.reason)
            return
        }
        guard let id = members.lenient("submissionId", MemberRules.submissionID) else {
            self = .unreadable(reason: "no readable submissionId")
            return
        }
        guard let user = members.lenient("userId", MemberRules.userID) else {
            self = .unreadable(reason: "no readable userId")
            return
        }
        let receivedAt = min(record.timestamp ?? now, now)
        func claimant(of bundle: BundleID, _ order: OrderID?) -> Claimant {
            Claimant(
                submissionID: id, userID: user, bundleID: bundle, orderID: order,
                traceparent: Self.traceparent(of: record))
        }
        do throws(SubmissionMembers.Malformed) {
            let (bundle, order, claim, evidence) = try members.checked()
            self = .submission(
                Submission(
                    claimant: claimant(of: bundle, order), claim: claim, evidence: evidence, origin: record.origin,
                    receivedAt: receivedAt))
        } catch {
            let bundle = members.lenient("bundleId", MemberRules.bundleID) ?? ""
            self = .malformed(
                MalformedSubmission(
                    claimant: claimant(of: bundle, members.lenient("orderId", MemberRules.orderID)),
                    rejection: Rejection(.malformedSubmission, error.detail), digest: ClaimDigest(malformed: value),
                    origin: record.origin, receivedAt: receivedAt))
        }
    }

    private static func traceparent(of record: InputRecord) -> String? {
        guard let value = record.headers.last(where: { $0.name == "traceparent" })?.value,
            value.count <= maxTraceparentBytes, value.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: value, as: UTF8.self)
    }
}

/// A record that names a submission and a user, and breaks the message contract otherwise.
public struct MalformedSubmission: Hashable, Sendable {
    public let claimant: Claimant
    public let rejection: Rejection
    public let digest: ClaimDigest
    public let origin: Origin
    public let receivedAt: Timestamp

    public init(
        claimant: Claimant, rejection: Rejection, digest: ClaimDigest, origin: Origin, receivedAt: Timestamp
    ) {
        self.claimant = claimant
        self.rejection = rejection
        self.digest = digest
        self.origin = origin
        self.receivedAt = receivedAt
    }
}

/// The members of a submission as they stand in the message, not yet checked.
private struct SubmissionMembers {
    /// The fault of a submission, in one sentence that names the member and never its value.
    struct Malformed: Error, Hashable {
        let detail: String
    }

    private let object: StrictJSON

    init(_ object: StrictJSON) { self.object = object }

    /// A member where it can be read; nil otherwise.
    func lenient<Value>(_ name: String, _ read: (String) -> Value?) -> Value? {
        guard case .string(let text) = object.members[name] else { return nil }
        return read(text)
    }

    /// Everything that a submission says of its purchase, once every member is checked.
    func checked() throws(Malformed) -> (BundleID, OrderID?, Claim, Evidence) {
        if let flaw = object.flaws.first { throw Malformed(detail: describe(flaw)) }
        guard let bundle = try optional("bundleId", MemberRules.bundleID) else {
            throw Malformed(detail: "bundleId is missing.")
        }
        let order = try optional("orderId", MemberRules.orderID)
        let transaction = try optional("transactionId", MemberRules.transactionID)
        let environment = try optional("environment", Environment.init(rawValue:))
        // What is no UUID names no account, as in Apple's word.
        let token = lenient("appAccountToken", Claim.accountToken)
        let submittedAt = try optional("submittedAt") { Timestamp(rfc3339: $0) }
        let product = try optional("productId", MemberRules.productID)
        let claim = Claim(
            transactionID: transaction, productID: product, appAccountToken: token, environment: environment,
            submittedAt: submittedAt)
        return (bundle, order, claim, try evidence(transaction))
    }

    /// The signed transaction, where there is one: it needs nobody to be asked. Else the receipt, else the id.
    private func evidence(_ transactionID: TransactionID?) throws(Malformed) -> Evidence {
        let receipt = try evidenceText("receipt")
        let signedTransaction = try evidenceText("signedTransaction")
        if let signedTransaction { return .signedTransaction(signedTransaction) }
        if let receipt { return .receipt(base64: receipt) }
        if let transactionID { return .transactionID(transactionID) }
        throw Malformed(detail: "One of receipt, signedTransaction or transactionId is needed.")
    }

    /// Any text at all: the local check judges its form.
    private func evidenceText(_ name: String) throws(Malformed) -> EvidenceText? {
        if let bytes = object.members.bytes(of: name) { return EvidenceText(bytes) }
        return try optional(name) { EvidenceText($0) }
    }

    private func optional<Value>(_ name: String, _ read: (String) -> Value?) throws(Malformed) -> Value? {
        switch object.members[name] {
        case nil, .null: return nil
        case .string(let text):
            guard let value = read(text) else { throw Malformed(detail: "\(name) has a form that is not allowed.") }
            return value
        default: throw Malformed(detail: "\(name) is not a string.")
        }
    }

    private func describe(_ flaw: JSONFlaw) -> String {
        switch flaw {
        case .duplicateMember(let name) where Self.known.contains(name): "\(name) stands more than once."
        case .duplicateMember, .duplicateNestedMember: "A member stands more than once."
        case .tooDeep: "Nested deeper than \(JSONFlaw.maxDepth) levels."
        case .tooManyMembers: "An object has more than \(JSONFlaw.maxMembers) members."
        }
    }

    /// All names of the contract; others are not repeated in a detail, because anybody may have chosen them.
    private static let known = [
        "submissionId", "userId", "bundleId", "receipt", "signedTransaction", "transactionId", "productId", "orderId",
        "appAccountToken", "environment", "submittedAt",
    ]
}

/// The values that each member of a submission may hold; nil for others.
enum MemberRules {
    /// Longest id of a submission, user or order, in characters.
    private static let maxIDLength = 128
    /// Longest bundle or product id. App Store Connect allows 155 and 100 characters.
    private static let maxAppleIDLength = 255

    static func submissionID(_ text: String) -> SubmissionID? {
        let isAllowed = (1...maxIDLength).contains(text.utf8.count) && text.utf8.allSatisfy(isAllowedInSubmissionID)
        return isAllowed ? SubmissionID(text) : nil
    }

    static func userID(_ text: String) -> UserID? { isText(text, longest: maxIDLength) ? UserID(text) : nil }

    static func orderID(_ text: String) -> OrderID? { isText(text, longest: maxIDLength) ? OrderID(text) : nil }

    static func bundleID(_ text: String) -> BundleID? { isText(text, longest: maxAppleIDLength) ? BundleID(text) : nil }

    static func productID(_ text: String) -> ProductID? {
        isText(text, longest: maxAppleIDLength) ? ProductID(text) : nil
    }

    static func transactionID(_ text: String) -> TransactionID? {
        let id = TransactionID(text)
        return id.isWellFormed ? id : nil
    }

    /// `[A-Za-z0-9._:-]`.
    private static func isAllowedInSubmissionID(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Not empty, not too long, and free of control characters, which no id has and logs and tables suffer from.
    private static func isText(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
