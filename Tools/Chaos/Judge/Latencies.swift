/// How long submissions took from the moment they were produced to their event on the topic.
struct Latencies {
    private var sorted: [Int64]

    init(_ values: [Int64]) { sorted = values.sorted() }

    var count: Int { sorted.count }

    func at(_ share: Double) -> Int64 {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    var text: String { "\(count) events, p50 \(at(0.5)) ms, p99 \(at(0.99)) ms, most \(sorted.last ?? 0) ms" }
}
