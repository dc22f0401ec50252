import Contract
import Logging
import Processing

/// Tells people what the core has to say, in constant messages.
struct AlertLog: Sendable {
    let logger: Logger
    let metrics: WorkerMetrics

    func tell(_ alerts: [Alert]) {
        for alert in alerts { tell(alert) }
    }

    private func tell(_ alert: Alert) {
        switch alert {
        case .breakerOpened(let endpoint):
            metrics.opened(endpoint)
            say(
                "breaker_opened", .warning, "Apple does not answer; submissions that need it wait in the ledger",
                endpoint)
        case .breakerClosed(let endpoint, let after):
            say(
                "breaker_closed", .notice, "Apple answers again; what waited is tried now", endpoint,
                ["away_for": "\(Self.seconds(after)) s"])
        case .retriesHalfFull:
            say("retries_half_full", .warning, "Half of the room for submissions that wait in the ledger is used")
        case .retriesFull:
            say("retries_full", .error, "The room for submissions that wait in the ledger is used up; nothing is read")
        case .outboxFull:
            say("outbox_full", .error, "100,000 events are owed in the outbox; nothing is read until Kafka takes them")
        case .ledgerSetBack(let partition, let noted, let found):
            say(
                "ledger_set_back", .error, "The ledger was set back; its records are read again", nil,
                [
                    "partition": "\(partition)", "noted": "\(noted)", "found": found.map { "\($0)" } ?? "nothing",
                ])
        case .ledgerUnavailable(let detail):
            say("ledger_unavailable", .warning, "The ledger is not available; nothing is read", nil, ["detail": detail])
        case .ledgerAnswersAgain(let after):
            say("ledger_available", .notice, "The ledger answers again", nil, ["away_for": "\(Self.seconds(after)) s"])
        case .ownershipLost(let partition):
            say(
                "ownership_lost", .notice,
                "Another worker writes for a partition; it is taken over again if it is ours", nil,
                ["partition": "\(partition)"])
        case .decisionRefused(let origin, let detail):
            say(
                "decision_refused", .error, "The ledger refuses a decision for its data; the submission is held", nil,
                ["origin": "\(origin)", "detail": detail])
        case .recordEndsWorkers(let origin):
            say(
                "record_ends_workers", .error, "A record whose check ended its worker before goes to quarantine", nil,
                ["origin": "\(origin)"])
        }
    }

    private func say(
        _ kind: String, _ level: Logger.Level, _ message: String, _ endpoint: Endpoint? = nil,
        _ more: Logger.Metadata = [:]
    ) {
        metrics.alert(kind)
        var metadata = more
        if let endpoint { metadata["endpoint"] = "\(endpoint)" }
        logger.log(level: level, message, metadata: metadata)
    }

    private static func seconds(_ duration: Duration) -> Int64 { duration.components.seconds }
}
