/// A step of checking a signature, and how it ended, for people.
public struct EvidenceCheck: Hashable, Sendable {
    /// The raw values are what reports say.
    public enum Outcome: String, Sendable {
        case passed
        case failed
        /// A check before it failed.
        case skipped
    }

    public let step: String
    public let outcome: Outcome
    /// Why it failed, in one sentence; empty otherwise. Holds nothing secret: no token, no account.
    public let detail: String

    /// All steps in their order, of which one failed, or none.
    static func all<Step: CaseIterable & RawRepresentable<String>>(
        failure: (step: Step, detail: String)?
    ) -> [EvidenceCheck] {
        var outcome = Outcome.passed
        return Step.allCases.map { step in
            if outcome == .failed { outcome = .skipped }
            guard let failure, failure.step.rawValue == step.rawValue else {
                return EvidenceCheck(step: step.rawValue, outcome: outcome, detail: "")
            }
            outcome = .failed
            return EvidenceCheck(step: step.rawValue, outcome: .failed, detail: failure.detail)
        }
    }
}
