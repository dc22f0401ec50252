import Contract
import Ledger
import Logging
import Processing

/// Tells people what the core has to say, in constant messages.
struct AlertLog: Sendable {
    /// Kinds of news, as `grantor_alerts_total` has them.
    enum Kind: String, CaseIterable {
        case breakerClosed = "breaker_closed"
        case breakerOpened = "breaker_opened"
        case breakerStillOpen = "breaker_still_open"
        case decisionRefused = "decision_refused"
        case eventsNotTaken = "events_not_taken"
        case held
        case laterVersion = "later_version"
        case ledgerAvailable = "ledger_available"
        case ledgerSetBack = "ledger_set_back"
        case ledgerUnavailable = "ledger_unavailable"
        case outboxFull = "outbox_full"
        case ownershipLost = "ownership_lost"
        case recordEndsWorkers = "record_ends_workers"
        case retriesFull = "retries_full"
        case retriesHalfFull = "retries_half_full"
        case rowEndsWorkers = "row_ends_workers"
    }

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
                .breakerOpened, .warning,
                "Apple cannot be asked at an endpoint; submissions that need it wait in the ledger, all others go on",
                ["endpoint": "\(endpoint)", "cause": fault ?? "replies take too long"])
        case .breakerStillOpen(let endpoint, let after, let waiting):
            say(
                .breakerStillOpen, .warning, "Apple still cannot be asked at an endpoint",
                ["endpoint": "\(endpoint)", "away_for": Self.seconds(after), "waiting": "\(waiting)"])
        case .breakerClosed(let endpoint, let after, let waited):
            say(
                .breakerClosed, .warning, "Apple answers again at an endpoint; what waited is asked about now",
                ["endpoint": "\(endpoint)", "away_for": Self.seconds(after), "waited": "\(waited)"])
        case .waitingAtStart(let rows):
            logger.info("Submissions wait in the ledger from before the start", metadata: ["waiting": "\(rows)"])
        case .held(let group, let rows, let details):
            say(
                .held, .error, "Submissions of an app are held until a person acts",
                [
                    "app": "\(group.bundleID)", "cause": group.cause.rawValue, "held": "\(rows)",
                    "detail": details.joined(separator: " "), "remedy": group.cause.remedy,
                ])
        case .laterVersion(let rows):
            say(
                .laterVersion, .error, "Rows wait that only a later version can work on; run it again",
                ["rows": "\(rows)"])
        case .retriesHalfFull(let bytes, let limit):
            say(
                .retriesHalfFull, .warning,
                "Half of GRANTOR_MAX_RETRY_BYTES waits in the ledger; at the bound nothing is read",
                Self.sizes(bytes, limit))
        case .retriesFull(let bytes, let limit):
            say(
                .retriesFull, .error,
                "GRANTOR_MAX_RETRY_BYTES wait in the ledger; nothing is read, and submissions wait in Kafka",
                Self.sizes(bytes, limit))
        case .eventsNotTaken(let topic, let cause):
            say(
                .eventsNotTaken, .error, "Kafka does not take events for a topic; they are owed in the outbox",
                ["topic": topics[topic] ?? topic.defaultName, "cause": cause])
        case .outboxFull:
            say(.outboxFull, .error, "100,000 events are owed in the outbox; more wait in memory until it is full")
        case .ledgerSetBack(let partition, let checkpoint, let found):
            say(
                .ledgerSetBack, .error, "The ledger was set back; its records are read again",
                [
                    "partition": "\(partition)", "checkpoint": "\(checkpoint)",
                    "found": found.map { "\($0)" } ?? "nothing",
                ])
        case .ledgerUnavailable(let detail):
            say(.ledgerUnavailable, .warning, "The ledger is not available; nothing is read", ["detail": detail])
        case .ledgerAvailable(let after):
            say(.ledgerAvailable, .warning, "The ledger answers again", ["away_for": Self.seconds(after)])
        case .ownershipLost(let partition):
            say(
                .ownershipLost, .notice,
                "Another worker writes for a partition; it is taken over again if it is ours",
                ["partition": "\(partition)"])
        case .decisionRefused(let origin, let detail):
            say(
                .decisionRefused, .error, "The ledger refuses a decision for its data; the submission is held",
                ["origin": "\(origin)", "detail": detail])
        case .recordEndsWorkers(let origin):
            say(
                .recordEndsWorkers, .error, "A record whose check ended its worker before goes to quarantine",
                ["origin": "\(origin)"])
        case .rowEndsWorkers(let origin):
            say(
                .rowEndsWorkers, .error, "A submission whose check ended workers is held until a person retries it",
                ["origin": "\(origin)"])
        }
    }

    private func say(_ kind: Kind, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]) {
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
