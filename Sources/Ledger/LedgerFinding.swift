/// One thing that was looked at in a ledger's database before a worker relies on it. All texts are for people.
public struct LedgerFinding: Hashable, Sendable {
    /// A word or two, such as `durability`.
    public let subject: String
    /// The state in which it was found, faulty or not.
    public let facts: String
    /// It keeps a worker from its work.
    public let failures: [String]
    /// It works, and is not as it should be.
    public let warnings: [String]

    public init(_ subject: String, _ facts: String, failures: [String] = [], warnings: [String] = []) {
        self.subject = subject
        self.facts = facts
        self.failures = failures
        self.warnings = warnings
    }
}
