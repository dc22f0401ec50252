/// Results for people: medians, and beside them the limits that were measured in the same run.
struct ResultTable {
    let text: String

    init(results: [CaseResult]) {
        var table = ColumnTable(
            "case", "in flight", "receipts/s", "ceiling", "cores", "CPU us", "bound us", "ratio", "hot us",
            "stand-in us",
            "peak MiB")
        for result in results {
            table.add(
                result.scenario.name, String(result.scenario.inFlight), result.median(\.receiptsPerSecond).text(),
                result.scenario.ceiling?.text() ?? "-", result.median(\.cores).text(2),
                result.median(\.cpuMicrosecondsPerReceipt).text(1), result.median(\.boundMicroseconds).text(1),
                result.median(\.ratio).text(2), result.median { $0.hotCallMicroseconds ?? .nan }.text(1),
                result.median { $0.standInMicroseconds ?? .nan }.text(1), result.median(\.peakMemoryMiB).text())
        }
        text =
            table.text + "\n"
                + """
                Medians of \(results.first?.measurements.count ?? 0) runs. CPU: of the worker process, per receipt. Ceiling: in flight \
                divided by latency. Bound: one P-256 verification by swift-crypto, or one call by libcurl alone with as many in flight. \
                Hot: one call after another.
                """
    }
}
