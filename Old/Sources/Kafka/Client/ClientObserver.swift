internal import CLibrdkafka
import Logging
import Metrics

/// Turns what librdkafka tells about itself into log lines and metrics. Confined to the owner thread.
final class ClientObserver {
    private let logger: Logger
    private let factory: any MetricsFactory
    private var lags: [KafkaPartition: Meter] = [:]
    private var roundTrips: [String: Meter] = [:]
    private let prefix: String
    /// A consumer's, made before the first event: Prometheus sees no rise in a counter that comes to be with it.
    private let recordsGone: Counter?

    /// - Parameter client: `consumer` or `producer`, part of every metric's name.
    init(client: String, configuration: KafkaClientConfiguration, logger: Logger) {
        prefix = "kafka_\(client)"
        factory = configuration.metricsFactory ?? MetricsSystem.factory
        recordsGone =
            client == "consumer" ? Counter(label: "kafka_consumer_records_gone_total", factory: factory) : nil
        self.logger = logger
    }

    /// Handles the events that are about the client as such. Transport faults are information: librdkafka connects
    /// again by itself, for ever.
    func observe(_ content: ClientEvent.Content) {
        switch content {
        case .log(_, "OFFSET", let text) where text.contains("Offset out of range"):
            // The one fault of a consumer that loses records for good, so it is more than librdkafka's warning.
            recordsGone?.increment()
            logger.error(
                "Records were deleted from the topic before they were read; reading goes on where the topic begins",
                metadata: ["text": "\(text)"])
        case .log(let level, let facility, let text):
            logger.log(
                level: Self.level(of: facility, text, syslog: level), "librdkafka",
                metadata: ["facility": "\(facility)", "text": "\(text)"])
        case .error(let code, let text, _): count(error: KafkaFailure(code, text: text))
        case .statistics(let json): record(json)
        default: break
        }
    }

    /// Counts an error by its code and writes it down.
    func count(error failure: KafkaFailure) {
        Counter(label: "\(prefix)_errors", dimensions: [("code", failure.name)], factory: factory).increment()
        logger.notice(
            "Kafka client reports an error", metadata: ["code": "\(failure.name)", "text": "\(failure.text)"])
    }

    /// Counts one more of `event`.
    func count(_ event: String, by amount: Int = 1) {
        Counter(label: "\(prefix)_\(event)", factory: factory).increment(by: amount)
    }

    /// Notes how long the group waited for partitions.
    func revocation(took duration: Duration) {
        Timer(label: "\(prefix)_revocation", factory: factory).record(duration: duration)
    }

    private func record(_ json: String) {
        guard let statistics = Statistics.decode(json) else {
            logger.warning("Kafka statistics could not be read")
            return
        }
        gauge("queue_records", statistics.msg_cnt.map(Int64.init))
        gauge("queue_bytes", statistics.msg_size.map(Int64.init))
        gauge("rebalances", statistics.cgrp.map { Int64($0.rebalance_cnt) })
        record(statistics.brokers ?? [:])
        record(statistics.topics ?? [:])
    }

    private func record(_ brokers: [String: Statistics.Broker]) {
        for broker in brokers.values where broker.nodeid >= 0 {
            guard let window = broker.rtt, window.cnt > 0 else { continue }
            let id = String(broker.nodeid)
            let meter =
                roundTrips[id]
                ?? Meter(label: "\(prefix)_broker_rtt_seconds", dimensions: [("broker", id)], factory: factory)
            roundTrips[id] = meter
            meter.set(Double(window.avg) / 1_000_000)
        }
    }

    private func record(_ topics: [String: Statistics.Topic]) {
        var seen: Set<KafkaPartition> = []
        var fetched: (records: Int64, bytes: Int64) = (0, 0)
        for (topic, partitions) in topics {
            for (number, statistics) in partitions.partitions {
                fetched.records += statistics.fetchq_cnt
                fetched.bytes += statistics.fetchq_size
                guard let index = Int32(number), statistics.consumer_lag >= 0 else { continue }
                let partition = KafkaPartition(topic: topic, index: index)
                seen.insert(partition)
                lagMeter(partition).set(statistics.consumer_lag)
            }
        }
        gauge("fetched_records", fetched.records)
        gauge("fetched_bytes", fetched.bytes)
        // A partition that went to another member must not keep showing the lag it had here.
        for (partition, meter) in lags where !seen.contains(partition) {
            // A back end that keeps its series would go on showing the last value.
            meter.set(0)
            meter.destroy()
            lags[partition] = nil
        }
    }

    private func lagMeter(_ partition: KafkaPartition) -> Meter {
        if let meter = lags[partition] { return meter }
        let meter = Meter(
            label: "\(prefix)_lag_records",
            dimensions: [("topic", partition.topic), ("partition", String(partition.index))], factory: factory)
        lags[partition] = meter
        return meter
    }

    private func gauge(_ name: String, _ value: Int64?) {
        guard let value else { return }
        Meter(label: "\(prefix)_\(name)", factory: factory).set(value)
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
