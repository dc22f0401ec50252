import Foundation

/// A load to measure.
struct BenchCase: Codable, Sendable {
    let latencyMilliseconds: Int
    let inFlight: Int
    let receipts: Int
    let receiptBytes: Int

    /// In flight divided by latency: no worker can be faster (Little's law); nil without latency.
    var ceiling: Double? {
        latencyMilliseconds == 0 ? nil : Double(inFlight) * 1000 / Double(latencyMilliseconds)
    }
}

/// What one run came to.
struct Measurement: Codable, Sendable {
    let receiptsPerSecond: Double
    /// User and system time of the worker process, between the first record and the last event.
    let cpuMicrosecondsPerReceipt: Double
    /// `VmHWM` of the worker process.
    let peakMemoryMiB: Double
}

/// A case with its runs.
struct CaseResult: Codable, Sendable {
    let scenario: BenchCase
    let measurements: [Measurement]

    func median(_ value: (Measurement) -> Double) -> Double {
        let sorted = measurements.map(value).sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}

/// Results for people.
struct ResultTable {
    let text: String

    init(results: [CaseResult]) {
        var lines = [
            "latency  in flight  receipts/s (ceiling)   CPU us/receipt   peak MiB   (medians of \(results.first?.measurements.count ?? 0))"
        ]
        for result in results {
            let ceiling = result.scenario.ceiling.map { String(format: "%.0f", $0) } ?? "-"
            lines.append(
                String(
                    format: "%4d ms  %9d  %10.0f (%@)  %15.0f  %9.0f", result.scenario.latencyMilliseconds,
                    result.scenario.inFlight, result.median(\.receiptsPerSecond), ceiling,
                    result.median(\.cpuMicrosecondsPerReceipt), result.median(\.peakMemoryMiB)))
        }
        text = lines.joined(separator: "\n")
    }
}
