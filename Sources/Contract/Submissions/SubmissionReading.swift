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
    ///
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
        let object: StrictJSON
        do throws(StrictJSON.Unreadable) {
            object = try StrictJSON(value)
        } catch {
            self = .unreadable(reason: error.reason)
            return
        }
        guard case .string(let id) = object.members["submissionId"], MemberRules.isSubmissionID(id) else {
            self = .unreadable(reason: "no readable submissionId")
            return
        }
        guard case .string(let user) = object.members["userId"], MemberRules.isUserID(user) else {
            self = .unreadable(reason: "no readable userId")
            return
        }
        let members = SubmissionMembers(object)
        let receivedAt = min(record.timestamp ?? now, now)
        let claimant = Claimant(
            submissionID: SubmissionID(id), userID: UserID(user), bundleID: BundleID(members.bundleID ?? ""),
            orderID: members.orderID.map { OrderID($0) }, traceparent: Self.traceparent(of: record))
        do throws(SubmissionMembers.Malformed) {
            self = .submission(try members.submission(of: claimant, origin: record.origin, receivedAt: receivedAt))
        } catch {
            self = .malformed(
                MalformedSubmission(
                    claimant: claimant, rejection: Rejection(.malformedSubmission, error.detail),
                    digest: ClaimDigest(malformed: value), origin: record.origin, receivedAt: receivedAt))
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

    /// All that its failure needs.
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
