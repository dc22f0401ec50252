/// Runs seeds of the simulated world.
public enum Simulation {
    /// One seed, from its first record to the end.
    ///
    /// - Parameter trace: Gets every input, action and fault.
    /// - Returns: The promises that were broken; none for a run as it must be.
    public static func run(seed: UInt64, options: SwarmOptions? = nil, trace: Trace? = nil) -> [Violation] {
        World(seed: seed, options: options, trace: trace).run()
    }
}
