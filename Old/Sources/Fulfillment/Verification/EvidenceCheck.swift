/// One step of looking at evidence, and how it ended: for people who look into a case.
public struct EvidenceCheck: Hashable, Sendable {
    /// What was checked, in one word.
    public let name: String
    /// `passed`, `failed` or `skipped`.
    public let outcome: String
    /// One sentence; holds no evidence, token or secret.
    public let detail: String

    /// A step with its end.
    public init(name: String, outcome: String, detail: String) {
        self.name = name
        self.outcome = outcome
        self.detail = detail
    }
}
