internal import CLibrdkafka
internal import Logging
internal import Scheduling

/// The log of one client: librdkafka's lines and errors, without the flood that a cluster which is away makes of them.
/// Confined to the client's thread.
struct ClientLog {
    private let logger: Logger
    private var reachability = Reachability()

    init(logger: Logger) { self.logger = logger }

    /// Whether the cluster is away as far as this client knows.
    var isAway: Bool { reachability.awaySince != nil }

    /// Writes one of librdkafka's lines.
    func write(level: Int32, facility: String, text: String) {
        logger.log(
            level: isAway && Self.isAboutConnections(facility) ? .debug : Self.level(of: facility, text, syslog: level),
            "librdkafka", metadata: ["facility": facility, "text": text])
    }

    /// Writes an error that librdkafka raised. Those of connections are information: it connects again by itself, for
    /// ever.
    mutating func write(_ failure: KafkaFailure, at now: Instant) {
        if failure.code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue, reachability.lost(at: now) {
            logger.warning("No Kafka broker can be reached", metadata: ["text": failure.text])
            return
        }
        let isRepeated = isAway && FailureReason.explained.contains(failure.name)
        logger.log(
            level: isRepeated ? .debug : .notice, "Kafka client reports an error",
            metadata: ["code": failure.name, "text": failure.text])
    }

    /// A broker has answered.
    mutating func connected(at now: Instant) {
        guard let duration = reachability.regained(at: now) else { return }
        logger.notice(
            "Kafka brokers can be reached again", metadata: ["seconds": "\(duration.components.seconds)"])
    }

    private static func isAboutConnections(_ facility: String) -> Bool {
        ["FAIL", "ERROR", "REQTMOUT", "CONNECT", "BRKDOWN"].contains(facility)
    }

    private static func level(of facility: String, _ text: String, syslog: Int32) -> Logger.Level {
        // Operators give one set of properties for all clients; each ignores what is for the other kind.
        if facility == "CONFWARN", text.contains("will be ignored by this") { return .debug }
        return switch syslog {
        case ...2: .critical
        case 3: .error
        case 4: .warning
        case 5: .notice
        case 6: .info
        default: .debug
        }
    }
}

/// Whether the cluster is away, and since when. Pure.
struct Reachability {
    private(set) var awaySince: Instant?

    /// - Returns: whether this is news.
    mutating func lost(at now: Instant) -> Bool {
        guard awaySince == nil else { return false }
        awaySince = now
        return true
    }

    /// - Returns: how long the cluster was away, if this is news.
    mutating func regained(at now: Instant) -> Duration? {
        guard let start = awaySince else { return nil }
        awaySince = nil
        return now - start
    }
}
