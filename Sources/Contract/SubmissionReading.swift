/// The content of a record of the input topic.
public enum SubmissionReading: Hashable, Sendable {
    /// A claim to verify.
    case submission(Submission)
    /// It names a submission and a user, and cannot be accepted: it fails, with an event.
    case malformed(MalformedSubmission)
    /// No submission or no user can be read from it: it goes to the quarantine topic as it came.
    case unreadable(QuarantineReason)

    /// Whose submission it is; nil where nobody can tell.
    public var claimant: Claimant? {
        switch self {
        case .submission(let submission): submission.claimant
        case .malformed(let submission): submission.claimant
        case .unreadable: nil
        }
    }

    /// Largest record value that is looked into, in bytes. Receipts of long-time subscribers reach some 400 KB.
    public static let maxValueBytes = 2 << 20
    /// Times of records before it are none: the App Store opened on 2008-07-10. Producers that write seconds where
    /// Kafka has milliseconds say 1970.
    package static let earliestTime = Timestamp(milliseconds: 1_215_648_000_000)
    /// Longest `traceparent` header that is handed on (W3C Trace Context: 55 characters in version 00).
    static let maxTraceparentBytes = 128

    /// Reads one record by the rules of the message contract (`schemas/receipts.submitted.schema.json`).
    ///
    /// Unknown members are ignored, a member that stands twice is an error. Absent, `null` and the empty text are the
    /// same, because many writers of JSON have one of them only. Ids may be whole numbers that are exact everywhere.
    /// Hints that cannot be read are ignored. Evidence stays a part of the record's value.
    /// - Parameter now: bounds ``Submission/receivedAt``, because producers' clocks may be ahead. It also stands for a
    ///   time that a record lacks, or that is none.
    public init(_ record: InputRecord, now: Timestamp) {
        guard let value = record.value else {
            self = .unreadable(.noValue)
            return
        }
        guard value.count <= Self.maxValueBytes else {
            self = .unreadable(.tooLarge)
            return
        }
        let members: SubmissionMembers
        do throws(JSONUnreadable) {
            members = SubmissionMembers(try StrictJSON(value))
        } catch {
            self = .unreadable(ForeignForm(value).map { .foreign($0) } ?? .notJSON(rule: error.reason))
            return
        }
        guard let id = members.lenient("submissionId", MemberForms.submissionID) else {
            self = .unreadable(members.isWrapped ? .wrapped : .submissionID(members.fault(ofID: "submissionId")))
            return
        }
        guard let user = members.lenient("userId", MemberForms.userID) else {
            self = .unreadable(.userID(members.fault(ofID: "userId")))
            return
        }
        let receivedAt = record.timestamp.map { $0 < Self.earliestTime ? now : min($0, now) } ?? now
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
            let bundle = members.lenient("bundleId", MemberForms.bundleID) ?? ""
            self = .malformed(
                MalformedSubmission(
                    claimant: claimant(of: bundle, members.lenient("orderId", MemberForms.orderID)),
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

/// The members of a submission as they stand in the record, not yet checked.
private struct SubmissionMembers {
    /// The fault of a submission, in one sentence that names the member and never its value.
    struct Malformed: Error, Hashable {
        let detail: String
    }

    private let object: StrictJSON

    init(_ object: StrictJSON) { self.object = object }

    /// A member where it can be read; nil otherwise. Nil also for words that languages write for a missing value: all
    /// players would be one user.
    func lenient<Value>(_ name: String, _ read: (String) -> Value?) -> Value? {
        guard case .text(let text) = content(of: name), !Self.isForNothing(text) else { return nil }
        return read(text)
    }

    /// The rule that an id breaks that cannot be read.
    func fault(ofID name: String) -> QuarantineReason.IDFault {
        if object.flaws.contains(.duplicateMember(name)) { return .standsTwice }
        switch content(of: name) {
        case .nothing: return .missing
        case .other: return .isNoText
        case .largeNumber: return .isLargeNumber
        case .text(let text) where Self.isForNothing(text): return .isWordForNothing
        case .text(let text):
            return text.unicodeScalars.count > MemberForms.maxIDLength ? .tooLong : .hasCharacter
        }
    }

    /// Whether it is a schema and a payload instead of a submission.
    var isWrapped: Bool { object.members["payload"] == .object && object.members["schema"] != nil }

    /// Everything that a submission says of its purchase, once every member is checked.
    func checked() throws(Malformed) -> (BundleID, OrderID?, Claim, Evidence) {
        if let flaw = object.flaws.first { throw Malformed(detail: describe(flaw)) }
        guard let bundle = try optional("bundleId", MemberForms.bundleID) else {
            throw Malformed(detail: "bundleId is missing.")
        }
        let order = try optional("orderId", MemberForms.orderID)
        // Writers without another way to leave a number out write a zero, which is no transaction.
        let transaction = try optional("transactionId", MemberForms.transactionID).flatMap {
            $0.isWellFormed ? $0 : nil
        }
        // A text that is no UUID names no account, as in Apple's word.
        let token = lenient("appAccountToken", Claim.accountToken)
        let product = try optional("productId", MemberForms.productID)
        // Hints, which decide nothing: no form of theirs may fail a purchase.
        let environment = lenient("environment") { Environment(rawValue: $0.lowercased()) }
        let submittedAt = lenient("submittedAt") { Timestamp(rfc3339: $0) }
        let claim = Claim(
            transactionID: transaction, productID: product, appAccountToken: token, environment: environment,
            submittedAt: submittedAt)
        return (bundle, order, claim, try evidence(transaction))
    }

    /// The signed transaction, where there is one: it needs no call. Else the receipt, else the id. A text that is no
    /// signed transaction gives way to a receipt, and so does a value that is no text, each to the other.
    ///
    /// Neither gives way to the id. Anybody may know an id, so backends refuse claims without other evidence, and some
    /// take anything of some length for it.
    private func evidence(_ transactionID: TransactionID?) throws(Malformed) -> Evidence {
        let receipt = evidenceText("receipt")
        if let token = evidenceText("signedTransaction"), receipt == nil || Self.hasThreeParts(token) {
            return .signedTransaction(token)
        }
        if let receipt { return .receipt(base64: receipt) }
        for name in ["receipt", "signedTransaction"] {
            if let detail = faultOfEvidence(name) { throw Malformed(detail: detail) }
        }
        if let transactionID { return .transactionID(transactionID) }
        throw Malformed(detail: "One of receipt, signedTransaction or transactionId is needed.")
    }

    /// Any text but white space and words for nothing: the local check judges its form.
    private func evidenceText(_ name: String) -> EvidenceText? {
        guard let bytes = object.members.bytes(of: name), !bytes.allSatisfy({ " \t\r\n".utf8.contains($0) }),
            bytes.count > Self.longestWordForNothing || !Self.isForNothing(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        return EvidenceText(bytes)
    }

    /// The fault of a member that holds no evidence; nil for the values that languages write for none.
    private func faultOfEvidence(_ name: String) -> String? {
        if let blank = object.members.bytes(of: name) {
            return blank.count > Self.longestWordForNothing ? "\(name) is blank." : nil
        }
        switch object.members[name] {
        case nil, .null, .boolean(false), .number("0"): return nil
        case .object where object.members.isEmpty(name), .array where object.members.isEmpty(name): return nil
        default: return "\(name) is not a string."
        }
    }

    private static func hasThreeParts(_ token: EvidenceText) -> Bool {
        token.bytes.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// Languages write these where a text is made of no value.
    private static let wordsForNothing: Set<String> = ["null", "(null)", "nil", "none", "undefined"]
    /// Also the longest blank that stands for nothing.
    private static let longestWordForNothing = 9

    private static func isForNothing(_ text: String) -> Bool {
        text.utf8.count <= longestWordForNothing && wordsForNothing.contains(text.lowercased())
    }

    private func optional<Value>(_ name: String, _ read: (String) -> Value?) throws(Malformed) -> Value? {
        switch content(of: name) {
        case .nothing: return nil
        case .text(let text) where Self.isForNothing(text): return nil
        case .text(let text):
            guard let value = read(text) else { throw Malformed(detail: "\(name) has a form that is not allowed.") }
            return value
        case .largeNumber:
            let detail = "\(name) is a number of 2^53 or more, which many writers round: send it as a string."
            throw Malformed(detail: detail)
        case .other: throw Malformed(detail: "\(name) is not a string.")
        }
    }

    /// The content of a member, whatever its type.
    private enum Content {
        /// Absent, null, an empty text or the number zero: writers have different ways to leave a member out.
        case nothing
        /// A text; or a whole number, as the digits that it is written with.
        case text(String)
        /// A whole number that a double may not hold, so its writer may have rounded it.
        case largeNumber
        case other
    }

    private func content(of name: String) -> Content {
        switch object.members[name] {
        case nil, .null, .string(""), .number("0"): return .nothing
        case .string(let text): return .text(text)
        case .number(let text):
            guard DigitText.isDigits(text, atMost: .max) else { return .other }
            guard let number = Int64(text), number <= MemberForms.largestExactNumber else { return .largeNumber }
            return .text(text)
        default: return .other
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

    /// All names of the contract. A detail repeats no other name, because anybody may have chosen it.
    private static let known = [
        "submissionId", "userId", "bundleId", "receipt", "signedTransaction", "transactionId", "productId", "orderId",
        "appAccountToken", "environment", "submittedAt",
    ]
}

/// The values that each member of a submission may hold; nil for others.
package enum MemberForms {
    /// Longest id of a submission, user or order, in characters.
    package static let maxIDLength = 128
    /// Longest bundle or product id. App Store Connect allows 155 and 100 characters.
    private static let maxAppleIDLength = 255

    /// 2^53 - 1. Many languages read numbers of JSON into doubles. The double 2^53 may have been 2^53 + 1.
    package static let largestExactNumber: Int64 = 1 << 53 - 1

    package static func submissionID(_ text: String) -> SubmissionID? {
        let isAllowed = (1...maxIDLength).contains(text.utf8.count) && text.utf8.allSatisfy(isAllowedInSubmissionID)
        return isAllowed ? SubmissionID(text) : nil
    }

    package static func userID(_ text: String) -> UserID? { isText(text, longest: maxIDLength) ? UserID(text) : nil }

    package static func orderID(_ text: String) -> OrderID? { isText(text, longest: maxIDLength) ? OrderID(text) : nil }

    package static func bundleID(_ text: String) -> BundleID? {
        isText(text, longest: maxAppleIDLength) ? BundleID(text) : nil
    }

    package static func productID(_ text: String) -> ProductID? {
        isText(text, longest: maxAppleIDLength) ? ProductID(text) : nil
    }

    /// Without white space around it. Also for zeros only, which are none: the id is not well formed then.
    package static func transactionID(_ text: String) -> TransactionID? {
        guard let word = word(text) else { return nil }
        let id = TransactionID(reading: word)
        return DigitText.isDigits(id.rawValue, atMost: 20) ? id : nil
    }

    /// The only word of a text. Nearly all are digits alone, and looking for white space takes long.
    private static func word(_ text: String) -> String? {
        if DigitText.isDigits(text, atMost: 20) { return text }
        // A second word shows that the text is no single one.
        let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        return words.count == 1 ? words.first.map { String($0) } : nil
    }

    /// `[A-Za-z0-9._:-]`.
    private static func isAllowedInSubmissionID(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Not empty, not too long, and free of control characters, which no id has and which spoil logs and tables.
    private static func isText(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
