public import Contract

/// The key of a submission. Its id is unique within its app.
public struct SubmissionKey: Hashable, Sendable, Comparable {
    public let bundleID: BundleID
    public let submissionID: SubmissionID

    public init(bundleID: BundleID, submissionID: SubmissionID) {
        self.bundleID = bundleID
        self.submissionID = submissionID
    }

    public static func < (left: SubmissionKey, right: SubmissionKey) -> Bool {
        left.bundleID == right.bundleID ? left.submissionID < right.submissionID : left.bundleID < right.bundleID
    }
}

extension Claimant {
    public var submissionKey: SubmissionKey { SubmissionKey(bundleID: bundleID, submissionID: submissionID) }
}

/// The key of one row of `grants`.
public struct GrantReference: Hashable, Sendable, Comparable {
    public let environment: Environment
    public let transactionID: TransactionID

    public init(environment: Environment, transactionID: TransactionID) {
        self.environment = environment
        self.transactionID = transactionID
    }

    public static func < (left: GrantReference, right: GrantReference) -> Bool {
        left.environment == right.environment
            ? left.transactionID < right.transactionID : left.environment.rawValue < right.environment.rawValue
    }
}

extension Grant {
    public var reference: GrantReference { GrantReference(environment: environment, transactionID: transactionID) }
}
