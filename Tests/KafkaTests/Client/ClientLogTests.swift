import CLibrdkafka
import Logging
import Scheduling
import Synchronization
import Testing

@testable import Kafka

struct ClientLogTests {
    private final class Lines: LogHandler {
        private let lines = Mutex<[String]>([])
        var taken: [String] { lines.withLock { $0 } }

        func log(_ event: LogEvent) {
            let words = [event.message] + event.metadata.values.map { "\($0)" }
            lines.withLock { $0.append(words.joined(separator: " ")) }
        }
    }

    @Test("An outage is news once, and so is its end, with its length")
    func outage() {
        let start = Instant(nanoseconds: 0)
        let down = KafkaFailure(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, text: "down")
        let lines = Lines()
        var log = ClientLog(logger: Logger(label: "test", handler: lines))
        log.connected(at: start)
        #expect(!log.isAway && lines.taken.isEmpty)
        log.write(down, at: start)
        log.write(down, at: start + .seconds(3))
        #expect(log.isAway)
        log.connected(at: start + .seconds(10))
        log.connected(at: start + .seconds(11))
        #expect(!log.isAway)
        log.write(down, at: start + .seconds(12))
        #expect(
            lines.taken == [
                "No Kafka broker can be reached down", "Kafka brokers can be reached again 10",
                "No Kafka broker can be reached down",
            ])
    }
}
