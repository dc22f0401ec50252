/// What one run came to.
struct Measurement: Codable, Sendable {
    let receiptsPerSecond: Double
    /// User and system time of the worker process while it was measured.
    let cpuMicrosecondsPerReceipt: Double
    /// `VmHWM` of the worker process.
    let peakMemoryMiB: Double
    /// The same time of what stands in for Apple, per call; nil where nothing is called.
    var standInMicroseconds: Double?
    /// What bounds a signed transaction: CPU time of one bare P-256 verification by swift-crypto, right after the run.
    var rawVerificationMicroseconds: Double?
    /// What bounds a receipt: libcurl alone, with as many calls in flight, right after the run.
    var bareLoop: BareLoopCost?
    /// CPU time of one call by libcurl among calls that follow each other over one connection.
    var hotCallMicroseconds: Double?

    /// CPU time of what the run is bounded by.
    var boundMicroseconds: Double { bareLoop?.microseconds ?? rawVerificationMicroseconds ?? .nan }

    /// The worker's time in units of what bounds it.
    var ratio: Double { cpuMicrosecondsPerReceipt / boundMicroseconds }

    /// How many processor cores the worker kept busy.
    var cores: Double { receiptsPerSecond * cpuMicrosecondsPerReceipt / 1e6 }
}

/// A case with its runs.
struct CaseResult: Codable, Sendable {
    let scenario: BenchCase
    let measurements: [Measurement]

    func median(_ value: (Measurement) -> Double) -> Double { Statistics.median(measurements.map(value)) }

    /// Of what in flight divided by latency allows, the share that was reached; nil where nothing is waited for.
    var shareOfCeiling: Double? { scenario.ceiling.map { median(\.receiptsPerSecond) / $0 } }
}
