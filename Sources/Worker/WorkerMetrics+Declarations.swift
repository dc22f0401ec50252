import Metrics

/// The metrics of a worker, without ``AppMetrics``, ``AppleMetrics`` and ``FulfilmentMetrics``. Values of labels that
/// are known at the start are there with 0 from then on. An alert on a rise sees the first one only so.
extension WorkerMetrics {
    // MARK: Records and decisions

    static let read = CounterDeclaration(
        "grantor_records_read_total", help: "Records read from the input topic.")
    static let quarantined = CounterDeclaration(
        "grantor_records_quarantined_total",
        help: "Records that hold no submission, by the rule that they break. One that is read again counts again.",
        labels: ["reason"])
    static let decisions = CounterDeclaration(
        "grantor_decisions_total",
        help: "Decisions that the ledger has written, by outcome. A submission that waits has several.",
        labels: ["outcome"])
    static let created = CounterDeclaration(
        "grantor_grants_created_total", help: "Purchases granted for the first time, by their environment.",
        labels: ["environment"])
    static let passedOver = CounterDeclaration(
        "grantor_purchases_passed_over_total",
        help: "Claimed purchases that were left out beside granted ones, by reason. A record read again counts again.",
        labels: ["reason"])
    static let failures = CounterDeclaration(
        "grantor_submissions_failed_total",
        help: "Submissions that failed, by reason. One that is sent again counts again.",
        labels: ["reason"])
    static let waits = CounterDeclaration(
        "grantor_waits_total",
        help: "Times that a submission began or went on to wait in the ledger, by cause.", labels: ["state", "cause"])
    /// From a millisecond to a day: waits for Apple and for a person count.
    private static let waitBounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400,
    ]
    static let written = TimerDeclaration(
        "grantor_received_to_written_seconds",
        help: "Time from a record's own timestamp until its purchases stood in the ledger as granted, waits included.",
        bounds: waitBounds)
    static let told = TimerDeclaration(
        "grantor_written_to_acknowledged_seconds",
        help: "Time from an outcome in the ledger until Kafka had its event. For what the outbox owes see "
            + "grantor_outbox_overdue_seconds.", bounds: waitBounds)

    // MARK: The ledger

    static let writeSeconds = TimerDeclaration(
        "grantor_ledger_write_seconds", help: "Time of one batch of decisions at the ledger.")
    static let batchSize = RecorderDeclaration(
        "grantor_ledger_batch_size", help: "Submissions in one batch at the ledger.")
    static let unavailable = CounterDeclaration(
        "grantor_ledger_unavailable_total", help: "Ledger calls that must be tried again, by connection.",
        labels: ["connection"])
    static let diskFree = GaugeDeclaration(
        "grantor_ledger_disk_free_bytes", help: "Room on the disk of a ledger on SQLite.")
    static let retrying = GaugeDeclaration(
        "grantor_submissions_retrying", help: "Submissions that wait for an endpoint of Apple's, of all workers.",
        labels: ["service", "environment"])
    static let retryingAge = GaugeDeclaration(
        "grantor_submissions_retrying_oldest_seconds",
        help: "How long ago the oldest record came that waits for an endpoint; 0 for none.",
        labels: ["service", "environment"])
    static let workers = GaugeDeclaration(
        "grantor_workers", help: "Workers of the ledger that gave a sign of life within 90 seconds.")
    static let retryBytes = GaugeDeclaration(
        "grantor_retry_bytes",
        help: "Bytes of the submissions that wait in the ledger, of all workers; see GRANTOR_MAX_RETRY_BYTES.")
    static let retryLimit = GaugeDeclaration(
        "grantor_retry_limit_bytes", help: "Bytes that may wait in the ledger; at this bound nothing is read.")

    static let clockLead = GaugeDeclaration(
        "grantor_clock_lead_seconds",
        help: "How far the ledger's clock is ahead of this host's, negative if behind; 0 on SQLite.")
    static let pruneFailures = CounterDeclaration(
        "grantor_prune_failures_total", help: "Times that this worker could not delete old answers.")
    static let pruned = CounterDeclaration(
        "grantor_answers_pruned_total",
        help: "Old failures and repeats that this worker has deleted; see GRANTOR_KEEP_ANSWERS.")

    // MARK: Events

    static let published = CounterDeclaration(
        "grantor_events_published_total", help: "Event copies that Kafka acknowledged.")
    static let notTaken = CounterDeclaration(
        "grantor_events_not_taken_total",
        help: "Event copies that Kafka refused, or did not acknowledge in ten seconds.")
    static let outboxRows = GaugeDeclaration(
        "grantor_outbox_rows", help: "Events and fulfilment calls that are owed, of all workers.")
    static let outboxAge = GaugeDeclaration(
        "grantor_outbox_overdue_seconds",
        help: "How long ago the oldest event of the outbox was first due. Alert if it grows.")

    // MARK: The worker

    static let build = GaugeDeclaration(
        "grantor_build_info", help: "1, for the program's version and the kind of its ledger.",
        labels: ["version", "ledger"])
    static let ready = GaugeDeclaration(
        "grantor_ready", help: "1 while /readyz says so: the group has the worker, and Kafka and the ledger answer.")
    static let appsFileTaken = GaugeDeclaration(
        "grantor_apps_file_reload_successful",
        help: "0 if the apps file was refused at the last SIGHUP, and what was read before stays in force.")
    static let appsFileReadAt = GaugeDeclaration(
        "grantor_apps_file_read_timestamp_seconds", help: "When the apps in force were read, since the UNIX epoch.")
    static let inFlight = GaugeDeclaration(
        "grantor_in_flight", help: "Submissions, rows and events that are under way.")
    static let inFlightSubmissions = GaugeDeclaration(
        "grantor_in_flight_submissions", help: "Submissions that are under way, by state.", labels: ["state"])
    static let inFlightBytes = GaugeDeclaration(
        "grantor_in_flight_bytes", help: "Bytes of records, claims and evidence that are under way.")
    static let inFlightLimit = GaugeDeclaration(
        "grantor_in_flight_limit_submissions", help: "Submissions and rows that may be under way.")
    static let inFlightLimitBytes = GaugeDeclaration(
        "grantor_in_flight_limit_bytes", help: "Bytes that may be under way; see GRANTOR_MAX_IN_FLIGHT_BYTES.")
    static let readingStopped = GaugeDeclaration(
        "grantor_reading_stopped", help: "1 for the reason why no record is read at the moment.", labels: ["reason"])
    static let assigned = GaugeDeclaration(
        "grantor_partitions_assigned", help: "Partitions that the group has given to this worker.")
    static let owned = GaugeDeclaration(
        "grantor_partitions_owned", help: "Partitions that this worker writes for, by the ledger.")
    static let linesLost = CounterDeclaration(
        "grantor_log_lines_lost_total", help: "Log lines for which there was no room because nobody read the log.")
    static let alerts = CounterDeclaration(
        "grantor_alerts_total", help: "News that a person should look at, by kind.", labels: ["kind"])
}
