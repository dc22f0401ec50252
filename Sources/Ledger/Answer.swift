public import Contract

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
