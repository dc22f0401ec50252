import Metrics
import Scheduling
import Testing

@testable import HTTPClient

struct CallQueueTests {
    /// Appends until a call is refused.
    private func fill(_ queue: inout CallQueue<Int>, from first: Int = 0) -> Range<Int> {
        var call = first
        while queue.append(call) { call += 1 }
        return first..<call
    }

    /// Takes until there is no place.
    private func takeAll(_ queue: inout CallQueue<Int>) -> [Int] {
        var calls: [Int] = []
        while let call = queue.takeNext() { calls.append(call) }
        return calls
    }

    @Test("Calls run in the order in which they came, no more at once than there are places")
    func order() {
        var queue = CallQueue<Int>(maxInFlight: 2, maxQueued: 3)
        let filled = fill(&queue)
        let first = takeAll(&queue)
        #expect(filled == 0..<5 && first == [0, 1])
        #expect(queue.inFlight == 2 && queue.count == 3 && !queue.hasNext)
        queue.release()
        #expect(queue.hasNext)
        let second = takeAll(&queue)
        let rest = queue.removeAll()
        #expect(second == [2] && rest == [3, 4])
        #expect(queue.count == 0 && queue.inFlight == 2)
    }

    @Test("As many wait as may, beside those for which there is a place")
    func waiting() {
        var queue = CallQueue<Int>(maxInFlight: 2, maxQueued: 1)
        let filled = fill(&queue)
        _ = queue.takeNext()
        let filledAgain = fill(&queue, from: 3)
        #expect(filled == 0..<3 && filledAgain.isEmpty)
        queue.release()
        let filledAtLast = fill(&queue, from: 3)
        #expect(filledAtLast == 3..<4)
        var none = CallQueue<Int>(maxInFlight: 1, maxQueued: 0)
        let one = fill(&none)
        #expect(one == 0..<1)
    }

    @Test("Every call runs once and in order, whatever comes and goes", arguments: 1...20 as ClosedRange<UInt64>)
    func anyCourse(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = CallQueue<Int>(maxInFlight: Int.random(in: 1...300, using: &random), maxQueued: 1000)
        var (next, accepted, taken) = (0, [Int](), [Int]())
        for _ in 0..<5000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                if queue.append(next) { accepted.append(next) }
                next += 1
            case 1:
                if let call = queue.takeNext() { taken.append(call) }
            default:
                if queue.inFlight > 0 { queue.release() }
            }
            #expect(queue.count == accepted.count - taken.count)
        }
        #expect(taken + queue.removeAll() == accepted)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct HTTPClientMetricsTests {
    @Test("Responses, failures and connections are counted, and the gauges come back to zero")
    func counts() throws {
        let registry = PrometheusRegistry()
        try Setup.run(registry: registry, script: { $0.number >= 3 ? [.reset] : [.send(.ok("fine"))] }) { setup in
            for _ in 0..<2 { _ = try setup.get() }
            _ = try setup.failure()
        }

        let lines = registry.render().split(separator: "\n")
        #expect(lines.contains("grantor_http_request_duration_seconds_count 2"))
        // The reset one is sent again over a new connection, if it was the kept one that was reset.
        #expect(lines.contains { $0.hasPrefix("grantor_http_connections_opened_total ") && !$0.hasSuffix(" 0") })
        #expect(lines.contains(#"grantor_http_errors_total{kind="connection_lost"} 1"#))
        #expect(lines.contains("grantor_http_requests_in_flight 0"))
        #expect(lines.contains("grantor_http_requests_waiting 0"))
    }
}
