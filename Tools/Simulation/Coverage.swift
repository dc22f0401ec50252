public import Processing

/// The legal transitions of the core's machines beside those that runs have taken.
public struct Coverage: CustomStringConvertible {
    /// Seeds that take every transition but those of ``untaken``.
    public static let enoughSeeds: UInt64 = 20_000

    /// Transitions that no run takes, with the reason. A test of the core takes each.
    public static let untaken: [Transition: String] = [:]

    private let taken: [Transition: Int]

    public init(_ counts: TransitionCounts) { taken = counts.taken }

    /// Legal transitions without a run and without a reason.
    public var missing: [Transition] { Transition.legal.filter { taken[$0] == nil && Self.untaken[$0] == nil } }

    public var isComplete: Bool { missing.isEmpty }

    public var description: String {
        var text = "\(Transition.legal.count { taken[$0] != nil }) of \(Transition.legal.count) transitions taken"
        for transition in missing { text += "\nnever taken: \(transition)" }
        for transition in Transition.legal where Self.untaken[transition] != nil && taken[transition] != nil {
            text += "\ntaken after all: \(transition)"
        }
        return text
    }
}
