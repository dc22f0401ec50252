import AppStoreSimulator
import Purchases

/// A message to submit, with the answer that must come.
struct WorkloadSubmission: Sendable {
    /// The answer that must come.
    enum Expectation: Hashable, Sendable {
        /// Granted events for exactly these transactions, of whichever submission claimed them first.
        case granted([TransactionID])
        case failed(FailureReason)
        case quarantined
    }

    /// Row of the summary it counts in.
    let kind: String
    /// Empty for a message that has none.
    let submissionID: SubmissionID?
    let key: [UInt8]?
    let value: [UInt8]?
    let expectation: Expectation
    /// Whether it asks again for something that an earlier submission was granted.
    let isRepeat: Bool
    /// Faults that Apple shows before it answers, with the transaction they are about.
    let faults: [Fault]
    let transactionID: TransactionID?

    init(
        kind: String, submissionID: SubmissionID?, key: [UInt8]?, value: [UInt8]?, expectation: Expectation,
        isRepeat: Bool = false, faults: [Fault] = [], transactionID: TransactionID? = nil
    ) {
        self.kind = kind
        self.submissionID = submissionID
        self.key = key
        self.value = value
        self.expectation = expectation
        self.isRepeat = isRepeat
        self.faults = faults
        self.transactionID = transactionID
    }
}
