import JSONReading
import Purchases

/// Reads a record of the input topic: bytes in, a submission or the reason why not out.
///
/// The rules are those of the message contract (`schemas/receipts.submitted.schema.json`). Unknown members are
/// ignored, absent and `null` are the same, a member that stands twice is an error.
struct SubmissionReader: Sendable {
    /// Largest record value that is looked into, in bytes. Receipts of long-time subscribers reach some 400 KB.
    static let maxValueBytes = 2 << 20
    /// Longest `traceparent` header that is handed on (W3C Trace Context: 55 characters in version 00).
    static let maxTraceparentBytes = 128

    /// Reads one record.
    func read(_ record: SubmissionRecord) -> IntakeResult {
        guard let value = record.value else { return .unreadable(reason: "no value") }
        guard value.count <= Self.maxValueBytes else { return .unreadable(reason: "larger than 2 MiB") }
        let object: StrictJSON
        do throws(StrictJSON.Unreadable) {
            object = try StrictJSON(value)
        } catch {
            return .unreadable(reason: error.reason)
        }
        guard case .string(let id) = object.members["submissionId"], MemberRules.isSubmissionID(id) else {
            return .unreadable(reason: "no readable submissionId")
        }
        guard case .string(let user) = object.members["userId"], MemberRules.isUserID(user) else {
            return .unreadable(reason: "no readable userId")
        }
        let members = SubmissionMembers(object)
        let claimant = Claimant(
            submissionID: SubmissionID(id), userID: UserID(user), bundleID: BundleID(members.bundleID ?? ""),
            orderID: members.orderID.map { OrderID($0) }, traceparent: traceparent(of: record))
        let fingerprint = Fingerprint.of(members, submissionID: id, userID: user)
        do throws(SubmissionMembers.Malformed) {
            let submission = try members.submission(id: claimant.submissionID, userID: claimant.userID)
            return .submission(ReadSubmission(submission: submission, claimant: claimant, fingerprint: fingerprint))
        } catch {
            return .malformed(claimant, fingerprint: fingerprint, Rejection(.malformedSubmission, error.detail))
        }
    }

    private func traceparent(of record: SubmissionRecord) -> String? {
        guard let value = record.headers.last(where: { $0.name == "traceparent" })?.value,
            value.count <= Self.maxTraceparentBytes, value.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: value, as: UTF8.self)
    }
}
