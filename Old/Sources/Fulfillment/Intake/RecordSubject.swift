public import Ledger
import Purchases

/// What a record of the input topic is about, as far as its fate in the ledger can be looked up by it.
public enum RecordSubject: Hashable, Sendable {
    /// It names a submission, whose row is its fate; whether the rest of it is well-formed does not matter.
    case submission(SubmissionKey)
    /// It is quarantined under its own place in the topic.
    case unreadable

    /// Reads a record by the same rules as intake.
    public init(of record: SubmissionRecord) {
        switch SubmissionReader().read(record) {
        case .submission(let read): self = .submission(read.key)
        case .malformed(let claimant, _, _):
            self = .submission(SubmissionKey(bundleID: claimant.bundleID, submissionID: claimant.submissionID))
        case .unreadable: self = .unreadable
        }
    }
}
