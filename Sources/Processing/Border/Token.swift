/// Names a slot of a slab and its use: a result that comes for an earlier use finds nobody.
///
/// Drivers hand it back with a result and read nothing from it.
public struct Token<Element>: Hashable, Sendable {
    let slot: Int32
    let use: UInt32

    init(slot: Int32, use: UInt32) {
        self.slot = slot
        self.use = use
    }

    /// A number for libraries that hand back no more than that.
    public var rawValue: UInt64 { UInt64(UInt32(bitPattern: slot)) << 32 | UInt64(use) }

    /// The token of a number.
    public init(rawValue: UInt64) {
        slot = Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue >> 32))
        use = UInt32(truncatingIfNeeded: rawValue)
    }
}

/// Names a submission in flight.
public typealias SubmissionToken = Token<SubmissionInFlight>
/// Names an event on its way to the broker.
public typealias PublishToken = Token<EventInFlight>
/// Names a row of the outbox that is worked on.
public typealias OutboxToken = Token<OutboxRowInFlight>

/// Kind of ``SubmissionToken``.
public enum SubmissionInFlight {}
/// Kind of ``PublishToken``.
public enum EventInFlight {}
/// Kind of ``OutboxToken``.
public enum OutboxRowInFlight {}

/// Names a batch of decisions at the ledger.
public struct BatchID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names a request to the ledger.
public struct RequestID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names one assignment of a partition at the consumer; a partition that is assigned again has another one.
public struct AssignmentID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
