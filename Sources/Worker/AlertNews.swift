import Contract
import Ledger
import Logging
import Processing

/// A line of the log, and how it counts.
struct AlertNews {
    /// Kinds of news, as `grantor_alerts_total` has them. The end of trouble has none: nobody must look.
    enum Kind: String, CaseIterable {
        case appMissing = "app_missing"
        case appsFileRefused = "apps_file_refused"
        case breakerOpened = "breaker_opened"
        case breakerStillOpen = "breaker_still_open"
        case callsOverdue = "calls_overdue"
        case decisionRefused = "decision_refused"
        case eventsNotTaken = "events_not_taken"
        case grantsRefused = "grants_refused"
        case held
        case laterVersion = "later_version"
        case ledgerSetBack = "ledger_set_back"
        case ledgerUnavailable = "ledger_unavailable"
        case outboxFull = "outbox_full"
        case ownershipLost = "ownership_lost"
        case passedOver = "passed_over"
        case quarantined
        case recordEndsWorkers = "record_ends_workers"
        case retriesFull = "retries_full"
        case retriesHalfFull = "retries_half_full"
        case rowEndsWorkers = "row_ends_workers"
        case serviceAway = "service_away"
        case serviceClientFailed = "service_client_failed"
        case serviceMissing = "service_missing"
        case serviceStillAway = "service_still_away"
        case signedAhead = "signed_ahead"
    }

    let kind: Kind?
    /// `error` if only a person ends it, or nothing is read; `warning` if it may need a person; `notice` for the end of
    /// trouble.
    let level: Logger.Level
    /// A constant.
    let message: String
    let metadata: Logger.Metadata

    init(_ kind: Kind?, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]) {
        self.kind = kind
        self.level = level
        self.message = message
        self.metadata = metadata
    }

    /// - Parameter topics: Their names by the configuration.
    init(_ alert: Alert, topics: [Topic: String]) {
        switch alert {
        case .breakerOpened(let endpoint, let fault):
            self.init(
                .breakerOpened, .warning,
                "Apple cannot be asked at an endpoint; submissions that need it wait in the ledger, all others go on",
                ["endpoint": "\(endpoint)", "cause": .text(fault ?? "replies take too long")])
        case .breakerStillOpen(let endpoint, let after, let waiting):
            self.init(
                .breakerStillOpen, .warning, "Apple still cannot be asked at an endpoint",
                ["endpoint": "\(endpoint)", "away_seconds": .seconds(after), "waiting": .number(waiting)])
        case .breakerClosed(let endpoint, let after, let waited):
            self.init(
                nil, .notice, "Apple answers again at an endpoint; what waited is asked about now",
                ["endpoint": "\(endpoint)", "away_seconds": .seconds(after), "waited": .number(waited)])
        case .calls(let alert): self.init(alert)
        case .waitingAtStart(let rows, let held, let oldest):
            var metadata: Logger.Metadata = ["waiting": .number(rows)]
            if held > 0 { metadata["held"] = .number(held) }
            if let oldest { metadata["oldest_held_seconds"] = .seconds(oldest) }
            self.init(
                nil, held > 0 ? .warning : .info,
                held > 0
                    ? "Submissions wait in the ledger from before the start, and some of them for a person"
                    : "Submissions wait in the ledger from before the start", metadata)
        case .held(let group, let rows, let details):
            self.init(
                .held, .error, "Submissions of an app are held until a person acts",
                [
                    "app": "\(group.bundleID)", "cause": .text(group.cause.rawValue), "held": .number(rows),
                    "detail": .text(details.joined(separator: " ")), "remedy": .text(group.cause.remedy),
                ])
        case .heldOver(let group, let after):
            self.init(
                nil, .notice, "No submission of an app is held for a cause any more",
                [
                    "app": "\(group.bundleID)", "cause": .text(group.cause.rawValue),
                    "held_for_seconds": .seconds(after),
                ])
        case .laterVersion(let rows):
            self.init(
                .laterVersion, .error, "Rows wait that only a later version can work on; run it again",
                ["rows": .number(rows)])
        case .laterVersionOver(let after):
            self.init(
                nil, .notice, "No rows wait for a later version any more", ["waited_seconds": .seconds(after)])
        case .retriesHalfFull(let bytes, let limit):
            self.init(
                .retriesHalfFull, .warning,
                "Half of GRANTOR_MAX_RETRY_BYTES waits in the ledger; at the bound nothing is read",
                Self.sizes(bytes, limit))
        case .retriesFull(let bytes, let limit):
            self.init(
                .retriesFull, .error,
                "GRANTOR_MAX_RETRY_BYTES wait in the ledger; nothing is read, and submissions wait in Kafka",
                Self.sizes(bytes, limit))
        case .retriesHaveRoom(let after):
            self.init(
                nil, .notice, "The ledger has room again for what waits; reading goes on",
                ["full_seconds": .seconds(after)])
        case .eventsNotTaken(let topic, let cause):
            self.init(
                .eventsNotTaken, .error,
                topic == .quarantined
                    ? "Kafka does not take quarantined records; they wait for five minutes, then a stub stands for each"
                    : "Kafka does not take events for a topic; they are owed in the outbox",
                ["topic": Self.name(topic, topics), "cause": .text(cause)])
        case .eventsTaken(let topic, let after):
            self.init(
                nil, .notice, "Kafka takes events for a topic again; what is owed follows",
                ["topic": Self.name(topic, topics), "refused_seconds": .seconds(after)])
        case .outboxFull:
            self.init(
                .outboxFull, .error, "100,000 events are owed in the outbox; more wait in memory until it has room")
        case .outboxHasRoom(let after):
            self.init(nil, .notice, "The outbox has room again", ["full_seconds": .seconds(after)])
        case .ledgerSetBack(let partition, let checkpoint, let found):
            var metadata: Logger.Metadata = ["partition": "\(partition)", "checkpoint": .number(Int(checkpoint))]
            if let found { metadata["found"] = .number(Int(found)) }
            self.init(.ledgerSetBack, .error, "The ledger was set back; its records are read again", metadata)
        case .ledgerUnavailable(let detail):
            self.init(
                .ledgerUnavailable, .error, "The ledger is not available; nothing is read", ["detail": .text(detail)])
        case .ledgerAvailable(let after):
            self.init(nil, .notice, "The ledger answers again", ["away_seconds": .seconds(after)])
        case .ownershipLost(let partition):
            self.init(
                .ownershipLost, .notice,
                "Another worker writes for a partition; it is taken over again if it is ours",
                ["partition": "\(partition)"])
        case .quarantined(let reason, let records, let example):
            self.init(
                .quarantined, .warning,
                "Records hold no submission and go to the quarantine topic; nobody gets an answer to them",
                ["reason": .text(reason.rawValue), "records": .number(records), "first": "\(example)"])
        case .passedOver(let app, let product, let reason, let purchases, let example):
            self.init(
                .passedOver, .warning, "Paid purchases were passed over beside others that were granted",
                [
                    "app": "\(app)", "product": "\(product)", "reason": .text(reason.rawValue),
                    "purchases": .number(purchases), "first": "\(example)", "remedy": .text(Self.remedy(reason)),
                ])
        case .signedAhead(let submissions, let example):
            self.init(
                .signedAhead, .error, "Apple signed evidence ahead of this host's clock; its submissions wait",
                [
                    "submissions": .number(submissions), "first": "\(example)",
                    "remedy": "compare this host's clock with another one, and start its time service again",
                ])
        case .appMissing(let app, let submissions, let example):
            self.init(
                .appMissing, .warning, "Submissions fail because the apps file lacks their app",
                [
                    "app": "\(app)", "submissions": .number(submissions), "first": "\(example)",
                    "remedy": "add the app, send SIGHUP, and have them sent again under new ids; or mend the backend",
                ])
        case .decisionRefused(let origin, let detail):
            self.init(
                .decisionRefused, .error, "The ledger refuses a decision for its data; the submission is held",
                ["origin": "\(origin)", "detail": .text(detail)])
        case .recordEndsWorkers(let origin):
            self.init(
                .recordEndsWorkers, .error, "A record whose check ended its worker before goes to quarantine",
                ["origin": "\(origin)"])
        case .rowEndsWorkers(let origin):
            self.init(
                .rowEndsWorkers, .error, "A submission whose check ended workers is held until a person retries it",
                ["origin": "\(origin)"])
        }
    }

    /// The remedy for a purchase that was passed over beside granted ones. It is not held, so nothing of it is tried
    /// again.
    private static func remedy(_ reason: PassedOver.Reason) -> String {
        switch reason {
        case .productNotConfigured:
            "list the product, send SIGHUP, and have the evidence sent again under a new id"
        case .accountTokenMissing:
            "let the backend send appAccountToken, and have the evidence sent again under a new id"
        case .advancedCommerce, .partialRefund: "decide what the user gets, and give it by other means"
        case .unknownProduct, .accountTokenMismatch, .productMismatch, .environmentNotAllowed,
            .familySharedNotAllowed, .transactionRevoked, .subscriptionExpired, .ownedByAnotherUser:
            "none: it cannot be granted"
        }
    }

    private static func name(_ topic: Topic, _ topics: [Topic: String]) -> LogValue {
        .text(topics.name(of: topic))
    }

    private static func sizes(_ bytes: Int64, _ limit: Int64) -> Logger.Metadata {
        ["waiting_bytes": .number(Int(bytes)), "limit_bytes": .number(Int(limit))]
    }
}
