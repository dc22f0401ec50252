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

/// The answer to a submission that has no grant of its own: a row of `answers`. Written once.
public enum Answer: Hashable, Sendable {
    case failed(Failure)
    case repeated(Repeat)

    public var claimant: Claimant {
        switch self {
        case .failed(let failure): failure.claimant
        case .repeated(let repeated): repeated.claimant
        }
    }

    public var origin: Origin {
        switch self {
        case .failed(let failure): failure.origin
        case .repeated(let repeated): repeated.origin
        }
    }
}

/// A submission for a purchase that another submission of the user was granted.
public struct Repeat: Hashable, Sendable {
    public let claimant: Claimant
    public let grant: GrantReference
    public let origin: Origin
    public let answeredAt: Timestamp
    /// Purchases that were left out beside purchases that the user had already.
    public let passedOver: PassedOver?

    public init(
        claimant: Claimant, grant: GrantReference, origin: Origin, answeredAt: Timestamp, passedOver: PassedOver?
    ) {
        self.claimant = claimant
        self.grant = grant
        self.origin = origin
        self.answeredAt = answeredAt
        self.passedOver = passedOver
    }
}
