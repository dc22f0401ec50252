/// What the worker's metrics mean, for whoever reads them in a monitoring system.
enum MetricHelp {
    /// By the names that metrics are shown under.
    static let texts = [
        "grantor_apple_breaker_openings_total": "Times that calls to Apple were stopped, by service and environment.",
        "grantor_apple_breakers": "Breakers in each phase; one for each app of the server API.",
        "grantor_apple_call_limit": "Calls that may be under way at once; the least of any app's.",
        "grantor_apple_call_seconds": "Time until Apple answered or could not, by environment.",
        "grantor_apple_calls_in_flight": "Calls to Apple that are under way.",
        "grantor_apple_calls_unanswered_total": "Calls to Apple without an answer.",
        "grantor_apple_calls_waiting": "Calls to Apple that wait for their turn.",
        "grantor_apple_retry_budget": "Retries that may be made at once; the least of any app's.",
        "grantor_deliveries_held": "Deliveries in this worker's memory.",
        "grantor_deliveries_open": "Grants that an inventory service still has to be told of, of all workers.",
        "grantor_delivery_breakers": "Inventory services by their breaker's phase.",
        "grantor_delivery_call_seconds": "Time until an inventory service answered or could not.",
        "grantor_delivery_calls_total": "Calls to inventory services, by result.",
        "grantor_delivery_overdue_seconds": "How long the first open delivery has been due. Alert if it grows.",
        "grantor_events_published_total": "Event copies that Kafka acknowledged, by topic.",
        "grantor_events_withheld": "Events that Kafka refused, and those that wait behind them. Alert if any stay.",
        "grantor_grants_created_total": "Purchases granted for the first time.",
        "grantor_ledger_forgotten": "1 if the ledger was empty at the start though its group had worked. Alert on any.",
        "grantor_ledger_unavailable_total": "Ledger calls that must be tried again.",
        "grantor_ledger_warnings_total": "Submissions that an operator should look at, by warning.",
        "grantor_log_lines_lost_total": "Log lines for which there was no room because nobody read the log.",
        "grantor_outbox_entries": "Events in the ledger that Kafka has not taken yet, of all workers.",
        "grantor_outbox_published_sequence": "How far this worker last knew the outbox to be published.",
        "grantor_partition_lag_seconds": "Age of a partition's newest record when it was read.",
        "grantor_partition_offsets_went_back_total": "Times that a partition's offsets did not rise.",
        "grantor_partition_oldest_unfinished_seconds": "Age of a partition's oldest record without an outcome.",
        "grantor_partitions_assigned": "Partitions that are this worker's.",
        "grantor_partitions_stalled": "Partitions whose oldest record has had no outcome for long.",
        "grantor_publish_failed_passes_total": "Publishing passes after which events still wait.",
        "grantor_records_quarantined_total": "Records from which no submission could be read.",
        "grantor_records_read_total": "Records read from the input topic.",
        "grantor_settle_batch_size": "Submissions in one ledger transaction.",
        "grantor_settle_seconds": "Time of one ledger transaction.",
        "grantor_signature_tables_distrusted": "False answers of tables of keys; then none is asked. Alert on any.",
        "grantor_signing_certificates_total": "Certificates of signed transactions, remembered or verified.",
        "grantor_submissions_failed_total": "Submissions refused, by reason.",
        "grantor_submissions_repeated_total": "Submissions that the ledger had already when they were read.",
        "grantor_submissions_settled_total": "Submissions with an outcome in the ledger, by outcome.",
        "grantor_verification_holds_total": "Verifications that wait for our own side to be mended, by cause.",
        "grantor_verification_retries_total": "Verifications that must be tried again, by cause.",
        "grantor_submissions_waiting": "Submissions that wait in the ledger, of all workers, by outcome and cause.",
        "grantor_waiting_overdue_seconds": "How long the first submission that waits in the ledger has been due.",
        "grantor_window_limit_bytes": "Bytes that the window may hold.",
        "grantor_window_limit_submissions": "Submissions that the window may hold.",
        "grantor_window_bytes": "Bytes of the submissions in the window.",
        "grantor_window_submissions": "Submissions read and not yet settled.",
        "http_transport_connections_opened_total": "HTTPS connections opened.",
        "http_transport_errors_total": "HTTPS requests without a response, by kind of error.",
        "http_transport_request_duration_seconds": "Time until an HTTPS response was complete.",
        "http_transport_requests_in_flight": "HTTPS requests under way.",
        "http_transport_requests_waiting": "HTTPS requests that wait for their turn.",
        "kafka_consumer_records_gone_total": "Times that records were deleted before they were read. Alert on any.",
    ]

    /// The line that explains a metric; a back slash and a line break are escaped as the format asks.
    static func line(_ name: String, _ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "# HELP \(name) \(escaped)"
    }
}
