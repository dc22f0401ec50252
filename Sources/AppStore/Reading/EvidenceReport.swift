/// The findings about evidence, step by step, for people.
public struct EvidenceReport<Step: CaseIterable & Hashable & RawRepresentable<String> & Sendable>: Hashable, Sendable {
    /// How a check ended. The raw values are what reports say.
    public enum Outcome: String, Sendable {
        case passed
        case failed
        /// A check before it failed.
        case skipped
    }

    public struct Check: Hashable, Sendable {
        public let step: Step
        public let outcome: Outcome
        /// One sentence for people; empty for a check that was skipped. Holds nothing secret: no token, no account.
        public let detail: String
    }

    public let checks: [Check]

    public var isPassed: Bool { checks.allSatisfy { $0.outcome == .passed } }

    /// A report of one failed step, or of none.
    init(failure: (step: Step, detail: String)?, passed: (Step) -> String) {
        var outcome = Outcome.passed
        checks = Step.allCases.map { step in
            guard outcome == .passed else { return Check(step: step, outcome: .skipped, detail: "") }
            guard let failure, failure.step == step else {
                return Check(step: step, outcome: .passed, detail: passed(step))
            }
            outcome = .failed
            return Check(step: step, outcome: .failed, detail: failure.detail)
        }
    }
}
