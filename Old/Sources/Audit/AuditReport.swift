/// What an audit came to.
public struct AuditReport: Hashable, Sendable {
    /// How much was read.
    public struct Read: Hashable, Sendable {
        /// Records on the input topic and on the output topics.
        public internal(set) var submitted = 0
        public internal(set) var published = 0
        /// Rows of the ledger.
        public internal(set) var submissions = 0
        /// Those of them that have no final outcome: Apple cannot tell yet, or our own side is to be mended.
        public internal(set) var parked = 0
        public internal(set) var held = 0
        public internal(set) var grants = 0
        public internal(set) var quarantined = 0
        public internal(set) var events = 0

        /// Nothing so far.
        public init() {}
    }

    /// Whether everything was said to be settled and published.
    public let drained: Bool
    public let read: Read
    /// One for each ``Invariant``, in their order.
    public let findings: [Finding]

    /// The end of an audit.
    public init(drained: Bool, read: Read, findings: [Finding]) {
        self.drained = drained
        self.read = read
        self.findings = findings
    }

    /// Whether nothing is violated.
    public var passed: Bool { violated.isEmpty }

    /// The invariants that do not hold.
    public var violated: [Invariant] { findings.filter { $0.verdict == .violated }.map(\.invariant) }
}
