import Foundation

/// Results for people: medians, and beside them the limits that were measured in the same run.
struct ResultTable {
    let text: String

    init(results: [CaseResult]) {
        var lines = [
            "case                  in flight  receipts/s (ceiling)  CPU us/receipt       bare us  ratio  peak MiB"
        ]
        for result in results {
            let scenario = result.scenario
            let ceiling = scenario.ceiling.map { String(format: "(%.0f)", $0) } ?? "-"
            // What the case is bounded by: the verification of a signature, or a call.
            let bound: (Measurement) -> Double =
                scenario.evidence == .signedTransaction
                ? { $0.rawVerificationMicroseconds } : { $0.bareCallMicroseconds ?? .nan }
            let ratio = String(format: "%.2f", result.median { $0.cpuMicrosecondsPerReceipt / bound($0) })
            lines.append(
                [
                    Self.cell(scenario.name, 20, isNumber: false), Self.cell(String(scenario.inFlight), 10),
                    Self.cell(String(format: "%.0f", result.median(\.receiptsPerSecond)), 11),
                    Self.cell(ceiling, 9), Self.cell(Self.whole(result.median(\.cpuMicrosecondsPerReceipt)), 15),
                    Self.cell(String(format: "%.1f", result.median(bound)), 13),
                    Self.cell(ratio, 6), Self.cell(Self.whole(result.median(\.peakMemoryMiB)), 9),
                ].joined(separator: " "))
        }
        lines.append(
            "Medians of \(results.first?.measurements.count ?? 0) runs; ledger: "
                + "\(results.first?.scenario.ledger.rawValue ?? "none"); the worker process alone is measured.")
        lines.append("Bare: one P-256 verification by swift-crypto, or one call after another by libcurl.")
        text = lines.joined(separator: "\n")
    }

    private static func whole(_ value: Double) -> String { String(format: "%.0f", value) }

    private static func cell(_ text: String, _ width: Int, isNumber: Bool = true) -> String {
        let padding = String(repeating: " ", count: max(0, width - text.count))
        return isNumber ? padding + text : text + padding
    }
}
