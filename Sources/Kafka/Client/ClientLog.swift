internal import CLibrdkafka
internal import Logging
internal import Scheduling

/// The log of one client: librdkafka's lines and errors, without the flood of them while a cluster is away. Confined to
/// the client's thread.
struct ClientLog {
    /// The pause between two lines about the same error.
    static let repeatPause = Reminder.pause

    private let logger: Logger
    private let tellsOutages: Bool
    private let remedies: [String: String]
    private let secrets: [String]
    private var outage = Reminder()
    /// The latest fault of a connection: librdkafka's errors name no cause. It may have a secret in it, and its remedy
    /// counts all the same.
    private var fault: String?
    /// When each error was logged, by its name.
    private var toldAt: [String: Instant] = [:]

    /// - Parameters:
    ///   - tellsOutages: one client of a process does, because all meet the same.
    ///   - remedies: the steps that a person takes after errors that no retry mends, by their names.
    ///   - secrets: a text in which one of them occurs is left out.
    init(logger: Logger, tellsOutages: Bool, remedies: [String: String] = [:], hiding secrets: [String]) {
        self.logger = logger
        self.tellsOutages = tellsOutages
        self.remedies = remedies
        self.secrets = secrets
    }

    /// librdkafka shows `sasl.oauthbearer.config` where it cannot read it, and repeats what a broker says.
    private func shown(_ text: String) -> String {
        secrets.contains { text.contains($0) } ? "the text has a secret of the properties in it" : text
    }

    var isAway: Bool { outage.since != nil }

    /// Writes one of librdkafka's lines. They have level debug, because each fault that matters comes as an error, too.
    /// A cluster that is away or denies a topic makes many a second. Only warnings about properties are nowhere else.
    mutating func write(level: Int32, facility: String, text: String) {
        if facility == "FAIL" { keep(LoggedReason.reason(in: text)) }
        logger.log(
            level: Self.isAboutProperties(facility, text) ? .warning : .debug, "librdkafka",
            metadata: ["facility": .text(facility), "level": .number(Int(level)), "text": .text(shown(text))])
    }

    /// Writes an error that librdkafka raised.
    mutating func write(_ failure: KafkaFailure, at now: Instant) {
        if failure.code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue {
            fault = fault ?? failure.text
            return away(at: now)
        }
        let isTold = toldAt[failure.name].map { now - $0 < Self.repeatPause } ?? false
        if !isTold { toldAt[failure.name] = now }
        let words: Logger.Metadata = ["code": .text(failure.name), "text": .text(shown(failure.text))]
        if isTold || LoggedReason.explained.contains(failure.name) {
            logger.debug("Kafka client reports an error", metadata: words)
        } else if let remedy = remedies[failure.name] {
            logger.error(
                "Kafka refuses what the worker asks for", metadata: words.merging(["remedy": .text(remedy)]) { $1 })
        } else {
            logger.notice("Kafka client reports an error", metadata: words)
        }
    }

    /// Whether no retry mends an error, and a person does something about it.
    func isRefusal(_ failure: KafkaFailure) -> Bool { remedies[failure.name] != nil }

    /// A refused connection breaks in many ways. The line that shows why counts.
    private mutating func keep(_ reason: String) {
        let isKnown = fault.map { ConnectionFault($0) != nil } ?? false
        if !isKnown || ConnectionFault(reason) != nil { fault = reason }
    }

    /// An outage begins, or lasts.
    private mutating func away(at now: Instant) {
        guard outage.observe(true, at: now) != nil else { return }
        var words: Logger.Metadata = [:]
        if let fault {
            words["cause"] = .text(shown(fault))
            if let remedy = ConnectionFault(fault)?.remedy() { words["remedy"] = .text(remedy) }
        }
        logger.log(
            level: tellsOutages ? .error : .debug,
            "Kafka is unreachable; nothing is read, and submissions wait in Kafka", metadata: words)
    }

    /// No connection stands. librdkafka may say once that all brokers are down, and not again.
    mutating func notConnected(at now: Instant) { if isAway { away(at: now) } }

    mutating func connected(at now: Instant) {
        fault = nil
        guard case .over(let time) = outage.observe(false, at: now) else { return }
        logger.log(
            level: tellsOutages ? .notice : .debug, "Kafka is reachable again",
            metadata: ["away_seconds": .seconds(time)])
    }

    /// Operators give one set of properties for all clients. Each kind ignores the properties of the other kind.
    private static func isAboutProperties(_ facility: String, _ text: String) -> Bool {
        facility == "CONFWARN" && !text.contains("will be ignored by this")
    }
}

/// The reason behind a request's failure, found in librdkafka's log. Its errors say little ("Broker transport
/// failure"). Only its log names refused connections, unknown hosts, distrusted certificates and wrong passwords.
enum LoggedReason {
    static let maxEvents = 1000
    /// The errors of a connection. The log explains only these, because a broker that replies says itself what is
    /// wrong.
    static let explained: Set<String> = [
        "_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE", "_SSL", "_AUTHENTICATION",
    ]
    /// syslog's number for errors; worse levels have smaller numbers.
    private static let errorLevel: Int32 = 3

    /// The last reason in the log that a client has kept until now; nil if there is none. A line about a fault of the
    /// connection takes precedence, whatever its level: a listener that wants TLS or a password only hangs up.
    ///
    /// Takes the log out of a client's unread queues, and drops everything else in them.
    static func last(of handle: ClientHandle) -> String? {
        // The failure itself takes precedence over a failure to explain it.
        guard let queue = try? ClientQueue.main(handle) else { return nil }
        var last: String?
        var telling: String?
        for _ in 0..<maxEvents {
            guard let event = queue.nextEvent() else { break }
            // Other facilities repeat it, or sum up: "1/1 brokers are down".
            guard case .log(let level, "FAIL", let text) = event.content else { continue }
            let reason = reason(in: text)
            if level <= errorLevel { last = reason }
            if ConnectionFault(reason) != nil { telling = reason }
        }
        return telling ?? last
    }

    /// The line without the name of its thread, and without the connection's states and their durations.
    static func reason(in text: String) -> String {
        var reason = text[...]
        if text.hasPrefix("[thrd:"), let end = text.firstRange(of: "]: ") { reason = text[end.upperBound...] }
        if reason.hasSuffix(")"), let start = reason.ranges(of: " (after ").last?.lowerBound,
            reason[start...].contains("ms in state ")
        {
            reason = reason[..<start]
        }
        return String(reason)
    }
}

extension KafkaError {
    /// The same error with the reason of the client's log, if it is an error of a connection.
    /// - Parameter secrets: a reason in which one of them occurs is left out.
    func explained(by reason: String?, hiding secrets: [String]) -> KafkaError {
        guard let reason, !secrets.contains(where: { reason.contains($0) }) else { return self }
        func explained(_ failure: KafkaFailure) -> KafkaFailure {
            guard LoggedReason.explained.contains(failure.name) else { return failure }
            return KafkaFailure(code: failure.code, name: failure.name, text: "\(failure.text): \(reason)")
        }
        return switch self {
        case .transient(let failure): .transient(explained(failure))
        case .denied(let failure): .denied(explained(failure))
        default: self
        }
    }
}
