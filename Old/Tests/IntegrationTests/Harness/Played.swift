import Purchases

/// A message for the input topic, with the answer that must come.
struct Played: Sendable {
    enum Expectation: Hashable, Sendable {
        /// A granted event for each of these transactions.
        case granted([TransactionID])
        case failed(FailureReason)
        /// It cannot be read, and goes to the quarantine topic.
        case quarantined
    }

    /// Empty for what cannot be read.
    let submissionID: SubmissionID?
    var key: [UInt8]
    let value: [UInt8]
    let expectation: Expectation
    /// What it says; nil for what cannot be read.
    let message: SubmissionMessage?

    /// Its receipt or signed transaction; nil for what cannot be read.
    var proof: String? { message?.receipt ?? message?.signedTransaction }
}

/// A submission as a game's backend writes it.
struct SubmissionMessage: Encodable {
    var submissionId: String
    var userId: String
    var bundleId: String
    var receipt: String?
    var signedTransaction: String?
    var transactionId: String?
    var productId: String?
    var orderId: String?
}
