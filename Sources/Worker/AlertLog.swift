import Contract
import Ledger
import Logging
import Processing

/// Tells people what the core has to say, in constant messages.
struct AlertLog: Sendable {
    /// Every kind of news, as `grantor_alerts_total` has it.
    static let kinds = [
        "breaker_closed", "breaker_opened", "breaker_still_open", "decision_refused", "events_not_taken", "held",
        "later_version", "ledger_available", "ledger_set_back", "ledger_unavailable", "outbox_full", "ownership_lost",
        "record_ends_workers", "retries_full", "retries_half_full", "row_ends_workers",
    ]

    let logger: Logger
    let metrics: WorkerMetrics
    /// The topics' names by the configuration.
    let topics: [Topic: String]

    func tell(_ alerts: [Alert]) {
        for alert in alerts { tell(alert) }
    }

    private func tell(_ alert: Alert) {
        switch alert {
        case .breakerOpened(let endpoint, let fault):
            metrics.opened(endpoint)
            say(
                "breaker_opened", .warning,
                "Apple cannot be asked at an endpoint; submissions that need it wait in the ledger, all others go on",
                ["endpoint": "\(endpoint)", "cause": fault ?? "answers take too long"])
        case .breakerStillOpen(let endpoint, let after, let waiting):
            say(
                "breaker_still_open", .warning, "Apple still cannot be asked at an endpoint",
                ["endpoint": "\(endpoint)", "away_for": Self.seconds(after), "waiting": "\(waiting)"])
        case .breakerClosed(let endpoint, let after, let waited):
            say(
                "breaker_closed", .warning, "Apple answers again at an endpoint; what waited is asked about now",
                ["endpoint": "\(endpoint)", "away_for": Self.seconds(after), "waited": "\(waited)"])
        case .waitingAtStart(let rows):
            logger.info("Submissions wait in the ledger from before the start", metadata: ["waiting": "\(rows)"])
        case .held(let group, let rows, let details):
            say(
                "held", .error, "Submissions of an app are held until a person acts",
                [
                    "app": "\(group.bundleID)", "cause": group.cause.rawValue, "held": "\(rows)",
                    "detail": details.joined(separator: " "), "remedy": group.cause.remedy,
                ])
        case .laterVersion(let rows):
            say(
                "later_version", .error, "Rows wait that only a later version can work on; run it again",
                ["rows": "\(rows)"])
        case .retriesHalfFull(let bytes, let limit):
            say(
                "retries_half_full", .warning,
                "Half of GRANTOR_MAX_RETRY_BYTES waits in the ledger; at the bound nothing is read",
                Self.sizes(bytes, limit))
        case .retriesFull(let bytes, let limit):
            say(
                "retries_full", .error,
                "GRANTOR_MAX_RETRY_BYTES wait in the ledger; nothing is read, and submissions wait in Kafka",
                Self.sizes(bytes, limit))
        case .eventsNotTaken(let topic, let cause):
            say(
                "events_not_taken", .error, "Kafka does not take events for a topic; they are owed in the outbox",
                ["topic": topics[topic] ?? topic.defaultName, "cause": cause])
        case .outboxFull:
            say("outbox_full", .error, "100,000 events are owed in the outbox; more wait in memory until it is full")
        case .ledgerSetBack(let partition, let noted, let found):
            say(
                "ledger_set_back", .error, "The ledger was set back; its records are read again",
                [
                    "partition": "\(partition)", "noted": "\(noted)", "found": found.map { "\($0)" } ?? "nothing",
                ])
        case .ledgerUnavailable(let detail):
            say("ledger_unavailable", .warning, "The ledger is not available; nothing is read", ["detail": detail])
        case .ledgerAnswersAgain(let after):
            say("ledger_available", .warning, "The ledger answers again", ["away_for": Self.seconds(after)])
        case .ownershipLost(let partition):
            say(
                "ownership_lost", .notice,
                "Another worker writes for a partition; it is taken over again if it is ours",
                ["partition": "\(partition)"])
        case .decisionRefused(let origin, let detail):
            say(
                "decision_refused", .error, "The ledger refuses a decision for its data; the submission is held",
                ["origin": "\(origin)", "detail": detail])
        case .recordEndsWorkers(let origin):
            say(
                "record_ends_workers", .error, "A record whose check ended its worker before goes to quarantine",
                ["origin": "\(origin)"])
        case .rowEndsWorkers(let origin):
            say(
                "row_ends_workers", .error, "A submission whose check ended workers is held until a person retries it",
                ["origin": "\(origin)"])
        }
    }

    private func say(_ kind: String, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]) {
        assert(Self.kinds.contains(kind))
        metrics.alert(kind)
        logger.log(level: level, message, metadata: metadata)
    }

    private static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }

    private static func sizes(_ bytes: Int64, _ limit: Int64) -> Logger.Metadata {
        ["waiting": "\(size(bytes))", "limit": "\(size(limit))"]
    }

    /// In the largest unit that leaves two digits at least.
    private static func size(_ bytes: Int64) -> String {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")] as [(shift: Int64, name: String)]
        guard let unit = units.first(where: { bytes >> $0.shift >= 10 }) else { return "\(bytes) B" }
        return "\(bytes >> unit.shift) \(unit.name)"
    }
}
