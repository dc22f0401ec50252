import AppStore
import Ledger
import Metrics
import Purchases

/// What the pipeline counts and measures. Labels come from closed enums only, so the number of series is fixed.
///
/// A class, because all stages and thousands of tasks have it.
final class PipelineMetrics: Sendable {
    let availability = AvailabilityMetrics()
    /// Records read from the input topic.
    let read = Counter(label: "grantor_records_read_total")
    /// Submissions that were in the ledger already when they were read.
    let repeated = Counter(label: "grantor_submissions_repeated_total")
    /// Verifications that had to be tried again, by cause.
    let retries = PipelineMetrics.byCase(RetryCause.self) {
        Counter(label: "grantor_verification_retries_total", dimensions: [("cause", $0.rawValue)])
    }
    /// Verifications that wait for our own side to be mended, by cause. Alert on any.
    let holds = PipelineMetrics.byCase(HoldCause.self) {
        Counter(label: "grantor_verification_holds_total", dimensions: [("cause", $0.rawValue)])
    }
    /// Submissions in the window, and their bytes.
    private let windowCount = Gauge(label: "grantor_window_submissions")
    private let windowBytes = Gauge(label: "grantor_window_bytes")
    /// The most that the window may hold.
    private let windowCountLimit = Gauge(label: "grantor_window_limit_submissions")
    private let windowBytesLimit = Gauge(label: "grantor_window_limit_bytes")
    /// Entries of the outbox that wait to be published, of all workers. Alert if it grows.
    private let outbox = Gauge(label: "grantor_outbox_entries")
    /// Submissions that wait in the ledger, of all workers. Alert on any that are held.
    private let waitingNow = PipelineMetrics.byCause { outcome, cause in
        Gauge(
            label: "grantor_submissions_waiting", dimensions: [("outcome", outcome.rawValue), ("cause", cause)])
    }
    /// How long the first of them has been due. Alert if it grows.
    private let overdue = Gauge(label: "grantor_waiting_overdue_seconds")
    /// Partitions that are this worker's.
    let partitions = Gauge(label: "grantor_partitions_assigned")
    /// Offsets that did not rise within an assignment.
    let wentBack = Counter(label: "grantor_partition_offsets_went_back_total")
    /// Partitions whose oldest record has had no outcome for long. Alert on any.
    let stalledPartitions = Gauge(label: "grantor_partitions_stalled")
    /// Signed transactions whose certificates were remembered, and those whose certificates had to be verified.
    let knownCertificates = Counter(label: "grantor_signing_certificates_total", dimensions: [("result", "known")])
    let verifiedCertificates = Counter(
        label: "grantor_signing_certificates_total", dimensions: [("result", "verified")])
    /// False answers of tables, after which none is asked. Alert on any.
    let falseAnswersOfTables = Gauge(label: "grantor_signature_tables_distrusted")
    let ledgerUnavailable = Counter(label: "grantor_ledger_unavailable_total")
    let publishFailures = Counter(label: "grantor_publish_failed_passes_total")
    /// Events that the broker refused, and those that wait behind them. Alert on any that stay.
    let withheld = Gauge(label: "grantor_events_withheld")
    /// How far the outbox is published. Alert if it stands still while entries wait.
    private let publishedSequence = Gauge(label: "grantor_outbox_published_sequence")

    private let granted = Counter(label: "grantor_submissions_settled_total", dimensions: [("outcome", "granted")])
    private let failed = PipelineMetrics.byCase(FailureReason.self) {
        Counter(label: "grantor_submissions_failed_total", dimensions: [("reason", $0.rawValue)])
    }
    private let waiting = Dictionary(
        uniqueKeysWithValues: [RecordedOutcome.parked, .held].map {
            ($0, Counter(label: "grantor_submissions_settled_total", dimensions: [("outcome", $0.rawValue)]))
        })
    private let answeredAgain = Counter(
        label: "grantor_submissions_settled_total", dimensions: [("outcome", "answered_again")])
    private let failedTotal = Counter(label: "grantor_submissions_settled_total", dimensions: [("outcome", "failed")])
    private let quarantined = Counter(label: "grantor_records_quarantined_total")
    private let grantsCreated = Counter(label: "grantor_grants_created_total")
    private let settleTime = Timer(label: "grantor_settle_seconds")
    private let settleSize = Recorder(label: "grantor_settle_batch_size")
    private let eventsPublished = PipelineMetrics.byCase(EventTopic.self) {
        Counter(label: "grantor_events_published_total", dimensions: [("topic", $0.rawValue)])
    }
    private let callTime = PipelineMetrics.byCase(Environment.self) {
        Timer(label: "grantor_apple_call_seconds", dimensions: [("environment", $0.rawValue)])
    }
    private let unanswered = Counter(label: "grantor_apple_calls_unanswered_total")

    /// Brings the gauges of the window up to date.
    func holds(_ count: Int, bytes: Int, of configuration: PipelineConfiguration) {
        windowCount.record(count)
        windowBytes.record(bytes)
        windowCountLimit.record(configuration.maxWindowCount)
        windowBytesLimit.record(configuration.maxWindowBytes)
    }

    func settled(
        _ outcomes: [SettledOutcome], _ settlements: [Settlement], quarantined count: Int, took duration: Duration
    ) {
        settleTime.record(duration: duration)
        settleSize.record(settlements.count)
        quarantined.increment(by: count)
        var grantedNow = 0
        var createdNow = 0
        for outcome in outcomes {
            switch outcome {
            case .granted(_, let created):
                grantedNow += 1
                createdNow += created
            case .failed(_, let reason):
                failedTotal.increment()
                failed[reason]?.increment()
            case .waiting(let cause): waiting[cause.outcome]?.increment()
            case .answeredAgain: answeredAgain.increment()
            }
        }
        granted.increment(by: grantedNow)
        grantsCreated.increment(by: createdNow)
    }

    /// Brings the gauges of the relay up to date.
    func relays(_ count: Int, through sequence: Int64) {
        withheld.record(count)
        publishedSequence.record(sequence)
    }

    func published(_ entries: [OutboxEntry], _ acknowledged: [Bool]) {
        var counts: [EventTopic: Int] = [:]
        for (index, isAcknowledged) in acknowledged.enumerated() where isAcknowledged {
            counts[entries[index].event.kind, default: 0] += 1
        }
        for (kind, count) in counts { eventsPublished[kind]?.increment(by: count) }
    }

    func called(_ environment: Environment, _ reply: AppStoreReply, took duration: Duration) {
        callTime[environment]?.record(duration: duration)
        if case .failed = reply { unanswered.increment() }
    }

    /// Brings the gauges of what waits in the ledger up to date.
    func waits(_ backlog: LedgerBacklog, now: Timestamp) {
        for (cause, gauge) in waitingNow { gauge.record(backlog.waiting[cause] ?? 0) }
        outbox.record(backlog.unpublished)
        let first = backlog.firstDueAt ?? now
        overdue.record(max(0, now.milliseconds - first.milliseconds) / 1000)
    }

    private static func byCause<Metric>(_ make: (RecordedOutcome, String) -> Metric) -> [WaitingCause: Metric] {
        let causes = RetryCause.allCases.map(WaitingCause.parked) + HoldCause.allCases.map(WaitingCause.held)
        return Dictionary(uniqueKeysWithValues: causes.map { ($0, make($0.outcome, $0.word)) })
    }

    private static func byCase<Label: CaseIterable & Hashable, Metric>(
        _: Label.Type, _ make: (Label) -> Metric
    ) -> [Label: Metric] {
        Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, make($0)) })
    }
}
