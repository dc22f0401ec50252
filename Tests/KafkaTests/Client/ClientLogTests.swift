import CLibrdkafka
import Logging
import Scheduling
import Testing

@testable import Kafka

struct ClientLogTests {
    private let start = Instant(nanoseconds: 0)
    private let down = KafkaFailure(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, text: "1/1 brokers are down")
    private let lines = TestLines()

    private func log(tellsOutages: Bool = true) -> ClientLog {
        ClientLog(
            logger: Logger(label: "test", handler: lines), tellsOutages: tellsOutages,
            remedies: ["UNKNOWN_TOPIC_OR_PART": "make it"], hiding: ["canary"])
    }

    @Test("An outage is news once, with its cause, and so is its end, with its length")
    func outage() {
        var log = log()
        log.connected(at: start)
        #expect(!log.isAway && lines.taken.isEmpty)
        let fault = "k:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 0ms)"
        log.write(level: 3, facility: "FAIL", text: "[thrd:k:9092/1]: \(fault)")
        log.write(level: 3, facility: "ERROR", text: "[thrd:k:9092/1]: 1/1 brokers are down")
        log.write(level: 4, facility: "GETPID", text: "Failed to acquire idempotence PID: retrying")
        log.write(KafkaFailure(RD_KAFKA_RESP_ERR__TRANSPORT, text: fault), at: start)
        log.write(down, at: start)
        log.write(down, at: start + .seconds(3))
        #expect(log.isAway)
        log.connected(at: start + .seconds(10))
        log.connected(at: start + .seconds(11))
        #expect(!log.isAway)
        #expect(
            lines.taken == [
                "error Kafka is unreachable; nothing is read, and submissions wait in Kafka \(fault) "
                    + ConnectionFault.refused.remedy(),
                "notice Kafka is reachable again 10",
            ])
    }

    @Test("The reason that shows why counts, whatever breaks after it")
    func tellingReason() {
        var log = log()
        let telling = "k:9092/1: Disconnected: broker might require SASL authentication"
        log.write(
            level: 4, facility: "FAIL",
            text: "[thrd:k:9092/1]: \(telling) (after 1ms in state UP, 1 identical error(s) suppressed)")
        log.write(level: 3, facility: "FAIL", text: "[thrd:k:9092/1]: k:9092/1: Send failed: Broken pipe")
        log.write(down, at: start)
        #expect(lines.taken.first?.hasSuffix("\(telling) \(ConnectionFault.noPassword.remedy())") == true)
    }

    @Test("No line has a secret of the properties, whether librdkafka or a broker repeats it")
    func secrets() {
        var log = log()
        log.write(level: 3, facility: "FAIL", text: "[thrd:k]: SASL authentication error: no user canary")
        log.write(level: 4, facility: "CONFWARN", text: "Configuration property canary is deprecated")
        log.write(KafkaFailure(RD_KAFKA_RESP_ERR__FAIL, text: "beginning at: canary"), at: start)
        log.write(down, at: start)
        #expect(lines.taken.count == 3 && !lines.taken.contains { $0.contains("canary") })
    }

    @Test("A cause in which a short secret occurs has its remedy all the same")
    func remedyOfHidden() {
        var log = log()
        log.write(level: 3, facility: "FAIL", text: "[thrd:k]: canary:9092/1: Connect failed: Connection refused")
        log.write(down, at: start)
        #expect(
            lines.taken.first?.hasSuffix("secret of the properties in it \(ConnectionFault.refused.remedy())") == true)
    }

    @Test("An outage that lasts is told again every ten minutes")
    func lasting() {
        var log = log()
        for minute in 0..<25 { log.write(down, at: start + .seconds(minute * 60)) }
        #expect(lines.taken.count == 3)
    }

    @Test("An outage that librdkafka tells once is told again every ten minutes, too, until a connection stands")
    func lastingInSilence() {
        var log = log()
        log.notConnected(at: start)
        #expect(lines.taken.isEmpty, "a start is no outage")
        log.write(down, at: start)
        for minute in 0..<25 { log.notConnected(at: start + .seconds(minute * 60)) }
        let line = "error Kafka is unreachable; nothing is read, and submissions wait in Kafka 1/1 brokers are down"
        #expect(lines.taken == [line, line, line])
        log.connected(at: start + .seconds(1500))
        log.notConnected(at: start + .seconds(3000))
        #expect(lines.taken.count == 4)
    }

    @Test("librdkafka's own lines are for finding faults, but for warnings about properties that this client has")
    func noise() {
        var log = log()
        for (level, facility) in [(3, "FAIL"), (4, "PARTCNT"), (2, "FATAL"), (5, "TOPIC"), (4, "BROKER")] {
            log.write(level: Int32(level), facility: facility, text: "[thrd:app]: words")
        }
        log.write(level: 4, facility: "CONFWARN", text: "Configuration property acks will be ignored by this consumer")
        #expect(lines.taken.isEmpty)
        log.write(level: 4, facility: "CONFWARN", text: "Configuration property x is deprecated")
        #expect(lines.taken == ["warning librdkafka CONFWARN 4 Configuration property x is deprecated"])
    }

    @Test("A broker that ends is not taken for a listener without TLS")
    func brokerEnds() {
        let end = "error:0A000126:SSL routines::unexpected eof while reading"
        #expect(ConnectionFault("k:9092/1: Receive failed: \(end)") == .ended)
        #expect(ConnectionFault("k:9092/1: SSL handshake failed: \(end)") == .unwantedTLS)
    }

    @Test("Another client of the process keeps quiet about an outage")
    func quiet() {
        var log = log(tellsOutages: false)
        log.write(down, at: start)
        #expect(log.isAway)
        log.connected(at: start + .seconds(10))
        #expect(lines.taken.isEmpty)
    }

    @Test("An error that no retry mends is told with its remedy, and again only after a while")
    func remedy() {
        var log = log()
        let missing = KafkaFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, text: "not available: t")
        for second in 0..<ClientLog.repeatPause.components.seconds * 2 {
            log.write(missing, at: start + .seconds(second))
        }
        let line = "error Kafka refuses what the worker asks for UNKNOWN_TOPIC_OR_PART make it not available: t"
        #expect(lines.taken == [line, line])
    }
}
