internal import Contract
internal import FoundationEssentials
public import Metrics

/// A consumer's metrics. Confined to its thread.
public struct ConsumerMetrics {
    public static let lag = GaugeDeclaration(
        "grantor_kafka_consumer_lag_records", help: "Records of a partition that wait to be read.",
        labels: ["topic", "partition"])
    public static let prefetchedRecords = GaugeDeclaration(
        "grantor_kafka_consumer_prefetched_records", help: "Records that librdkafka holds ready.")
    public static let prefetchedBytes = GaugeDeclaration(
        "grantor_kafka_consumer_prefetched_bytes", help: "Bytes that librdkafka holds ready.")
    public static let roundTrip = GaugeDeclaration(
        "grantor_kafka_consumer_broker_rtt_seconds", help: "Mean time of a broker's answers in the last seconds.",
        labels: ["broker"])
    public static let rebalances = CounterDeclaration(
        "grantor_kafka_consumer_rebalances_total", help: "Answers to the group: grants, revocations and losses.",
        labels: ["kind"])
    public static let dropped = CounterDeclaration(
        "grantor_kafka_consumer_dropped_records_total",
        help: "Records fetched and dropped, because their partition had gone or begun anew meanwhile.")
    public static let recordsGone = CounterDeclaration(
        "grantor_kafka_consumer_records_gone_total",
        help: "Offsets passed over because their records were deleted before they were read. Alert on any.")
    public static let wentBack = CounterDeclaration(
        "grantor_kafka_consumer_offsets_went_back_total",
        help: "Times that a partition's offsets went back: its topic was made anew or lost its end. Alert on any.")
    public static let errors = CounterDeclaration(
        "grantor_kafka_consumer_errors_total",
        help: "Errors that librdkafka reported, most of which it overcomes by itself.",
        labels: ["code"])
    public static let refusals = CounterDeclaration(
        "grantor_kafka_consumer_refusals_total",
        help: "Errors that no retry mends, such as a missing right; the log has the remedy. Alert on any.")
    public static let refusedPartitions = GaugeDeclaration(
        "grantor_kafka_consumer_refused_partitions",
        help: "Partitions that are read, and whose broker's latest reply to a fetch is an error.")

    public static let unfetchedPartitions = GaugeDeclaration(
        "grantor_kafka_consumer_unfetched_partitions",
        help: "Partitions that are read, and whose end no broker has told yet, such as one without a leader.")

    private let registry: PrometheusRegistry
    private let fetchedRecords: Gauge
    private let fetchedBytes: Gauge
    private let refusedFetches: Gauge
    private let unfetched: Gauge
    let dropped: Counter
    /// Made before the first event, as in ``showFromTheStart(_:)``: Prometheus sees no rise in a counter that comes to
    /// be with it.
    let recordsGone: Counter
    let wentBack: Counter
    let refusals: Counter
    let (grants, revocations, losses): (Counter, Counter, Counter)
    private var lags: [TopicPartition: Gauge] = [:]
    private var roundTrips: [Int32: Gauge] = [:]

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        fetchedRecords = registry.gauge(Self.prefetchedRecords)
        fetchedBytes = registry.gauge(Self.prefetchedBytes)
        refusedFetches = registry.gauge(Self.refusedPartitions)
        unfetched = registry.gauge(Self.unfetchedPartitions)
        dropped = registry.counter(Self.dropped)
        recordsGone = registry.counter(Self.recordsGone)
        wentBack = registry.counter(Self.wentBack)
        refusals = registry.counter(Self.refusals)
        grants = registry.counter(Self.rebalances, "granted")
        revocations = registry.counter(Self.rebalances, "revoked")
        losses = registry.counter(Self.rebalances, "lost")
    }

    /// Makes the series that a consumer has from its start, where it begins later than its process.
    public static func showFromTheStart(_ registry: PrometheusRegistry) { _ = ConsumerMetrics(registry) }

    /// Counts an error by its code; librdkafka has some two hundred of them.
    func count(_ failure: KafkaFailure) { registry.counter(Self.errors, failure.name.lowercased()).increment() }

    /// - Parameters:
    ///   - read: The partitions that are read now. Other partitions keep librdkafka's offsets of the last fetch.
    ///   - waiting: How many records wait in each partition that the group has granted and that is not read. It is nil
    ///     where the brokers have not said it now.
    /// - Returns: how many partitions that are read get errors for records.
    @discardableResult
    mutating func show(
        _ statistics: ClientStatistics, read: some Collection<TopicPartition>, waiting: [TopicPartition: Int64?]
    ) -> Int {
        for broker in (statistics.brokers ?? [:]).values where broker.nodeid >= 0 {
            guard let latency = broker.rtt, latency.cnt > 0 else { continue }
            let gauge = roundTrips[broker.nodeid] ?? registry.gauge(Self.roundTrip, String(broker.nodeid))
            roundTrips[broker.nodeid] = gauge
            gauge.set(Double(latency.avg) / 1_000_000)
        }
        var lags = waiting
        let read = Set(read)
        var fetched = (records: 0, bytes: 0)
        // Their lag is not known, so no alert about it sees them.
        var unfetched = read
        var refused = 0
        for (topic, partitions) in statistics.topics ?? [:] {
            for (number, partition) in partitions.partitions {
                fetched.records += Int(partition.fetchq_cnt)
                fetched.bytes += Int(partition.fetchq_size)
                guard let index = Int32(number) else { continue }
                let name = TopicPartition(topic: topic, partition: index)
                guard read.contains(name) else { continue }
                lags.updateValue(partition.lag, forKey: name)
                if partition.isRefused { refused += 1 }
                if partition.isRefused || partition.lag != nil { unfetched.remove(name) }
            }
        }
        fetchedRecords.set(fetched.records)
        fetchedBytes.set(fetched.bytes)
        refusedFetches.set(refused)
        self.unfetched.set(unfetched.count)
        show(lags)
        return refused
    }

    private mutating func show(_ now: [TopicPartition: Int64?]) {
        for case (let partition, let lag?) in now {
            let gauge = lags[partition] ?? registry.gauge(Self.lag, partition.topic, String(partition.partition))
            lags[partition] = gauge
            gauge.set(Int(lag))
        }
        // A partition that went to another member must not keep showing the lag it had here.
        for (partition, gauge) in lags where now[partition] == nil { gauge.set(0) }
    }
}

/// The part of librdkafka's statistics that becomes metrics. Member names are those of its `STATISTICS.md`.
struct ClientStatistics: Decodable, Equatable {
    let brokers: [String: Broker]?
    let topics: [String: Topic]?

    struct Broker: Decodable, Equatable {
        let nodeid: Int32
        let state: String
        let rtt: Latency?
    }

    struct Latency: Decodable, Equatable {
        /// Microseconds.
        let avg: Int64
        let cnt: Int64
    }

    struct Topic: Decodable, Equatable {
        let partitions: [String: Partition]
    }

    struct Partition: Decodable, Equatable {
        /// The end of what readers of committed transactions may read; negative when it is not known.
        let ls_offset: Int64
        /// The end of all records; negative when it is not known.
        let hi_offset: Int64
        /// Where the next fetch begins; negative when it is not known.
        let next_offset: Int64
        let fetchq_cnt: Int64
        let fetchq_size: Int64

        /// Offsets still to be fetched, and the fetched records that wait; nil when it is not known.
        ///
        /// librdkafka's own `consumer_lag` counts from the last record that was taken. After the end of a transaction,
        /// aborted or deleted records it never comes back to zero, because no record follows. Records behind a
        /// transaction that is open count, too: a producer that left one open keeps them from every reader.
        var lag: Int64? {
            guard hi_offset >= 0, ls_offset >= 0, next_offset >= 0 else { return nil }
            return max(0, hi_offset - next_offset) + fetchq_cnt
        }

        /// Whether the broker's latest reply to a fetch is an error: such a reply has this for an end. Before the first
        /// reply it is another number. librdkafka tells a missing right once, and tries on in silence.
        var isRefused: Bool { ls_offset == -1 }
    }

    /// Whether a connection to one of the cluster's brokers stands; bootstrap connections do not count.
    var isConnected: Bool { (brokers ?? [:]).values.contains { $0.nodeid >= 0 && $0.state == "UP" } }

    static func decode(_ json: String) -> ClientStatistics? {
        try? JSONDecoder().decode(ClientStatistics.self, from: Data(json.utf8))
    }
}
