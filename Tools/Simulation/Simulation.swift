public import Processing

/// Runs seeds of the simulated world.
public enum Simulation {
    /// One seed, from its first record to the end.
    ///
    /// - Parameters:
    ///   - trace: Gets every input, action and fault.
    ///   - transitions: Gets those that the cores' machines take.
    /// - Returns: The promises that were broken; none for a run as it must be.
    public static func run(
        seed: UInt64, options: SwarmOptions? = nil, trace: Trace? = nil, counting transitions: inout TransitionCounts
    ) -> [Violation] {
        let world = World(seed: seed, options: options, trace: trace)
        let violations = world.run()
        transitions.add(world.transitions)
        return violations
    }

    public static func run(seed: UInt64, options: SwarmOptions? = nil, trace: Trace? = nil) -> [Violation] {
        var transitions = TransitionCounts(isCounting: true)
        return run(seed: seed, options: options, trace: trace, counting: &transitions)
    }

    /// The ids of a seed's submissions, in the order of their records.
    public static func submissions(of seed: UInt64) -> [String] {
        var seen: Set<String> = []
        return World(seed: seed).script.records.compactMap(\.submissionID).filter { seen.insert($0).inserted }
    }
}
