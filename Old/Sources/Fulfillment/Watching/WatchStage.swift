import AppStore
import Logging
import Metrics

/// Looks at the partitions and at the source every few seconds: says which partition stands still, and whether the
/// source still works.
struct WatchStage: Sendable {
    /// Between two looks.
    static let interval: Duration = .seconds(5)
    /// Looks without a sign of life of the source, a minute in all, after which only a restart helps. Six times what
    /// librdkafka's statistics need.
    static let silentLooks = 12

    let parts: PipelineParts
    let source: any SubmissionSource
    let signatures: SignatureVerifiers

    /// Runs until the task is cancelled.
    func run() async {
        var stalls = StallWatch(limit: parts.configuration.stallLimit)
        var pulse = PulseWatch(limit: Self.silentLooks)
        var gauges: [TopicPartition: PartitionGauges] = [:]
        var signed = signatures.transactions.statistics
        while true {
            do { try await parts.clock.sleep(for: Self.interval) } catch { return }
            let now = parts.clock.elapsed()
            let standings = parts.progress.withProgress { $0.standings }
            show(standings, now, in: &gauges)
            for finding in stalls.tick(standings, now: now) { note(finding) }
            parts.metrics.stalledPartitions.record(stalls.stalled)
            parts.reportHeld()
            judge(pulse.tick(source.signsOfLife))
            show(signatures.transactions.statistics, since: &signed)
        }
    }

    private func show(
        _ standings: [PartitionStanding], _ now: Duration, in gauges: inout [TopicPartition: PartitionGauges]
    ) {
        var gone = gauges
        for standing in standings {
            gone[standing.partition] = nil
            let gauge = gauges[standing.partition] ?? PartitionGauges(standing.partition)
            gauges[standing.partition] = gauge
            gauge.show(standing, now)
        }
        for (partition, gauge) in gone {
            gauge.clear()
            gauges[partition] = nil
        }
    }

    private func note(_ finding: StallWatch.Finding) {
        switch finding {
        case .stalled(let standing, let age):
            parts.logger.warning(
                "A partition makes no progress: its oldest record has no outcome",
                metadata: [
                    "topic": "\(standing.partition.topic)", "partition": "\(standing.partition.partition)",
                    "offset": "\(standing.oldest?.offset ?? 0)", "seconds": "\(age.components.seconds)",
                    "unfinished": "\(standing.unfinished)", "lastRead": "\(standing.lastRead ?? 0)",
                ])
        case .moving(let partition):
            parts.logger.info(
                "A partition makes progress again",
                metadata: ["topic": "\(partition.topic)", "partition": "\(partition.partition)"])
        }
    }

    private func show(
        _ statistics: SignedTransactionVerifier.Statistics, since last: inout SignedTransactionVerifier.Statistics
    ) {
        parts.metrics.knownCertificates.increment(by: statistics.hits - last.hits)
        parts.metrics.verifiedCertificates.increment(by: statistics.misses - last.misses)
        parts.metrics.falseAnswersOfTables.record(statistics.falseAnswers)
        if statistics.falseAnswers > last.falseAnswers {
            parts.logger.critical(
                "A table of Apple's key gave a false answer; none is asked any more, and swift-crypto checks alone")
        }
        last = statistics
    }

    private func judge(_ isAlive: Bool) {
        let wasAlive = parts.sourceIsAlive.isSet
        // Before anything is said: whoever asks for it must not depend on the log.
        parts.sourceIsAlive.set(isAlive)
        if wasAlive, !isAlive {
            parts.logger.critical("The Kafka consumer shows no sign of life; only a restart helps")
        } else if !wasAlive, isAlive {
            parts.logger.notice("The Kafka consumer shows signs of life again")
        }
    }
}

/// What is measured of one partition. Assignments are few, so the number of series is that of the topic's partitions.
private struct PartitionGauges: Sendable {
    private let oldest: Gauge
    private let lag: Gauge

    init(_ partition: TopicPartition) {
        let labels = [("topic", partition.topic), ("partition", String(partition.partition))]
        oldest = Gauge(label: "grantor_partition_oldest_unfinished_seconds", dimensions: labels)
        lag = Gauge(label: "grantor_partition_lag_seconds", dimensions: labels)
    }

    func show(_ standing: PartitionStanding, _ now: Duration) {
        oldest.record(standing.oldest.map { (now - $0.admittedAt) / .seconds(1) } ?? 0)
        lag.record((standing.readAge ?? .zero) / .seconds(1))
    }

    /// A partition that went must not keep showing what it had here.
    func clear() {
        oldest.record(0)
        lag.record(0)
    }
}
