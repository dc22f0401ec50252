/// A run with faults of its own.
protocol Run {
    init(options: Options)

    /// Whether all promises were kept.
    mutating func run() throws -> Bool
}
