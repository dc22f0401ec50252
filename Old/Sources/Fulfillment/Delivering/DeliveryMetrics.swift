import Metrics

/// What is measured of this worker's deliveries. Apps are added up: a label for each would make as many series as apps.
struct DeliveryMetrics: Sendable {
    /// All inventory services at one moment.
    struct Summary: Hashable, Sendable {
        private(set) var phases: [Breaker.Phase: Int] = [:]
        let held: Int

        init(_ desk: DeliveryDesk) {
            held = desk.heldCount
            for line in desk.lines { phases[line.breaker.phase, default: 0] += 1 }
        }
    }

    /// Deliveries in this worker's memory.
    private let held = Gauge(label: "grantor_deliveries_held")
    private let calls = Dictionary(
        uniqueKeysWithValues: DeliveryAnswer.words.map { word in
            (word, Counter(label: "grantor_delivery_calls_total", dimensions: [("result", word)]))
        })
    private let callTime = Timer(label: "grantor_delivery_call_seconds")
    private let phases = Dictionary(
        uniqueKeysWithValues: Breaker.Phase.allCases.map { phase in
            (
                phase,
                Gauge(
                    label: "grantor_delivery_breakers", dimensions: [("phase", phase.rawValue)])
            )
        })

    func called(_ answer: DeliveryAnswer, took duration: Duration) {
        calls[answer.word]?.increment()
        callTime.record(duration: duration)
    }

    func report(_ summary: Summary) {
        held.record(summary.held)
        for (phase, gauge) in phases { gauge.record(summary.phases[phase] ?? 0) }
    }
}
