public import Processing

/// The legal transitions of the core's machines beside those that runs have taken.
public struct Coverage: CustomStringConvertible {
    /// So many seeds take every one of them.
    public static let enoughSeeds: UInt64 = 20_000

    private let missing: [Transition]

    public init(_ counts: TransitionCounts) {
        let taken = counts.taken
        missing = Transition.legal.filter { taken[$0] == nil }
    }

    public var isComplete: Bool { missing.isEmpty }

    public var description: String {
        let all = Transition.legal.count
        return "\(all - missing.count) of \(all) transitions taken" + missing.map { "\nnever taken: \($0)" }.joined()
    }
}
