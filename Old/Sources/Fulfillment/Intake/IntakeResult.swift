import Ledger
import Purchases

/// What a record of the input topic turned out to be.
enum IntakeResult: Hashable, Sendable {
    /// A claim to verify.
    case submission(ReadSubmission)
    /// It names a submission and a user, and cannot be accepted: answered as failed.
    case malformed(Claimant, fingerprint: String, Rejection)
    /// No submission or no user can be read from it: goes to the quarantine topic as it came.
    case unreadable(reason: String)
}

/// A submission with what the pipeline needs beside it.
struct ReadSubmission: Hashable, Sendable {
    let submission: Submission
    let claimant: Claimant
    /// SHA-256 of all that is claimed, lower-case hex.
    let fingerprint: String

    var key: SubmissionKey { SubmissionKey(bundleID: claimant.bundleID, submissionID: claimant.submissionID) }
}
