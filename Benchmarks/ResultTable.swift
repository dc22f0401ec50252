import Foundation

/// Results for people: medians, and beside them the limits that were measured in the same run.
struct ResultTable {
    let text: String

    init(results: [CaseResult]) {
        var lines = [
            "case                  in flight  receipts/s (ceiling)  CPU us/receipt  raw P-256 us  ratio  peak MiB"
        ]
        for result in results {
            let scenario = result.scenario
            let ceiling = scenario.ceiling.map { String(format: "(%.0f)", $0) } ?? "-"
            // Only signed transactions are bounded by the verification of signatures.
            let ratio =
                scenario.evidence == .signedTransaction
                ? String(
                    format: "%.2f",
                    result.median { $0.cpuMicrosecondsPerReceipt / $0.rawVerificationMicroseconds }) : "-"
            lines.append(
                [
                    Self.cell(scenario.name, 20, isNumber: false), Self.cell(String(scenario.inFlight), 10),
                    Self.cell(String(format: "%.0f", result.median(\.receiptsPerSecond)), 11),
                    Self.cell(ceiling, 9), Self.cell(Self.whole(result.median(\.cpuMicrosecondsPerReceipt)), 15),
                    Self.cell(String(format: "%.1f", result.median(\.rawVerificationMicroseconds)), 13),
                    Self.cell(ratio, 6), Self.cell(Self.whole(result.median(\.peakMemoryMiB)), 9),
                ].joined(separator: " "))
        }
        lines.append(
            "Medians of \(results.first?.measurements.count ?? 0) runs; ledger: "
                + "\(results.first?.scenario.ledger.rawValue ?? "none"); the worker process alone is measured.")
        text = lines.joined(separator: "\n")
    }

    private static func whole(_ value: Double) -> String { String(format: "%.0f", value) }

    private static func cell(_ text: String, _ width: Int, isNumber: Bool = true) -> String {
        let padding = String(repeating: " ", count: max(0, width - text.count))
        return isNumber ? padding + text : text + padding
    }
}
