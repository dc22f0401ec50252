/// What was found out about one invariant.
public struct Finding: Hashable, Sendable {
    public enum Verdict: String, Sendable {
        case holds
        case violated
        /// It holds only when all is settled and published, and nobody said that it is.
        case notAsked = "not asked"
        /// There is nothing that it speaks of.
        case notApplicable = "not applicable"
    }

    /// Most examples of violations that are kept.
    public static let maxExamples = 5

    public let invariant: Invariant
    public let verdict: Verdict
    /// Things that were looked at.
    public let checked: Int
    /// Things that could not be looked at, because the topics no longer hold them. They are no violation.
    public let gone: Int
    public let violations: Int
    /// The first violations, by ids and places; never evidence.
    public let examples: [String]
    /// What an auditor should know beside it; nil if there is nothing.
    public let note: String?

    /// What was found out.
    public init(
        invariant: Invariant, verdict: Verdict, checked: Int, gone: Int, violations: Int, examples: [String],
        note: String?
    ) {
        self.invariant = invariant
        self.verdict = verdict
        self.checked = checked
        self.gone = gone
        self.violations = violations
        self.examples = examples
        self.note = note
    }
}

extension Finding {
    /// There is nothing that the statement speaks of.
    init(notApplicable invariant: Invariant, note: String? = nil) {
        self.init(
            invariant: invariant, verdict: .notApplicable, checked: 0, gone: 0, violations: 0, examples: [], note: note)
    }
}

/// Counts what becomes a ``Finding``.
struct Tally: Sendable {
    private(set) var checked = 0
    private(set) var gone = 0
    private(set) var violations = 0
    private(set) var examples: [String] = []

    /// Things were looked at, whatever they turned out to be.
    mutating func check(_ count: Int = 1) { checked += count }

    /// Things could not be looked at.
    mutating func skip(_ count: Int = 1) { gone += count }

    /// Something that was looked at breaks the statement.
    mutating func violate(_ example: @autoclosure () -> String) {
        violations += 1
        if examples.count < Finding.maxExamples { examples.append(example()) }
    }

    /// What another count found breaks this statement, too.
    mutating func add(violationsOf other: Tally) {
        violations += other.violations
        examples += other.examples.prefix(Finding.maxExamples - examples.count)
    }

    func finding(on invariant: Invariant, drained: Bool, note: String? = nil) -> Finding {
        let isAsked = drained || !invariant.isAtQuiescence
        return Finding(
            invariant: invariant, verdict: isAsked ? (violations == 0 ? .holds : .violated) : .notAsked,
            checked: isAsked ? checked : 0, gone: isAsked ? gone : 0, violations: isAsked ? violations : 0,
            examples: isAsked ? examples : [], note: note)
    }
}
