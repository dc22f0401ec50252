internal import CLibrdkafka

/// How a consumer joins its group and how much it holds in memory.
public struct KafkaConsumerConfiguration: Sendable {
    /// How a group divides partitions; all its members must agree.
    public enum Assignor: String, Sendable, CaseIterable {
        /// Everything is given back and dealt out again at each rebalance.
        case range
        /// As `range`, dealt out one by one over all topics.
        case roundRobin = "roundrobin"
        /// Only what moves is given back. librdkafka before 2.6.1 can loop in it for ever, so it is not the default.
        case cooperativeSticky = "cooperative-sticky"
    }

    /// Addresses, pass-through properties, metrics.
    public var client: KafkaClientConfiguration
    /// The group whose members share the topics.
    public var groupID: String
    /// What to read; a name that begins with `^` is a regular expression.
    public var topics: [String]
    /// `nil`, the default, leaves it to the property `partition.assignment.strategy`, and without one to `range`.
    public var assignor: Assignor?
    /// A name for static membership: a restart within the session timeout then moves no partition. No two members may
    /// have the same, else the one that joined first ends with a fatal error. `nil`, the default, leaves it to the
    /// property `group.instance.id`.
    public var groupInstanceID: String?
    /// How long the group waits for a member that is silent. Default 45 s.
    public var sessionTimeout: Duration
    /// How often stored offsets are committed. Default 1 s.
    public var autoCommitInterval: Duration
    /// How long a revocation waits for `KafkaRevocation.complete` before the partitions are given back without it.
    /// Default 10 s. The whole group waits meanwhile, and librdkafka delivers nothing of the kept partitions either.
    public var revocationDeadline: Duration
    /// How long a broker may keep a fetch open when there is nothing new. Default 100 ms.
    public var fetchWait: Duration
    /// How many records librdkafka tries to hold ready, over all partitions. Default 20,000.
    ///
    /// Once half of them are taken, librdkafka is reminded to look for more.
    public var prefetchedRecords: Int
    /// How many KiB it may hold ready, over all partitions. Default 4096.
    public var prefetchedKilobytes: Int

    /// Defaults for everything but addresses, group and topics.
    public init(
        client: KafkaClientConfiguration, groupID: String, topics: [String], assignor: Assignor? = nil,
        groupInstanceID: String? = nil, sessionTimeout: Duration = .seconds(45),
        autoCommitInterval: Duration = .seconds(1), revocationDeadline: Duration = .seconds(10),
        fetchWait: Duration = .milliseconds(100), prefetchedRecords: Int = 20_000, prefetchedKilobytes: Int = 4096
    ) {
        self.client = client
        self.groupID = groupID
        self.topics = topics
        self.assignor = assignor
        self.groupInstanceID = groupInstanceID
        self.sessionTimeout = sessionTimeout
        self.autoCommitInterval = autoCommitInterval
        self.revocationDeadline = revocationDeadline
        self.fetchWait = fetchWait
        self.prefetchedRecords = prefetchedRecords
        self.prefetchedKilobytes = prefetchedKilobytes
    }

    func properties() throws(KafkaError) -> ClientProperties {
        var defaults = [
            "group.id": groupID,
            Self.strategyProperty: Assignor.range.rawValue,
            "session.timeout.ms": String(sessionTimeout.pollMilliseconds),
            "enable.auto.commit": "true",
            "enable.auto.offset.store": "false",
            "auto.commit.interval.ms": String(autoCommitInterval.pollMilliseconds),
            // Reading again is harmless to an idempotent reader; skipping is not.
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "check.crcs": "true",
            "fetch.wait.max.ms": String(fetchWait.pollMilliseconds),
            "fetch.max.bytes": String(answerBytes),
            "queued.min.messages": String(prefetchedRecords),
            "queued.max.messages.kbytes": String(prefetchedKilobytes),
        ]
        if Self.hasQueueBackoff { defaults["fetch.queue.backoff.ms"] = "10" }
        var client = client
        if let assignor { client.properties[Self.strategyProperty] = assignor.rawValue }
        if let groupInstanceID { client.properties["group.instance.id"] = groupInstanceID }
        return try ClientProperties(client, defaults: defaults, guards: Self.guards)
    }

    /// Most bytes of one answer, which stays in memory as long as any of its records waits: 4 MiB, where librdkafka's default is
    /// 50; more where the operator lets a single record be larger, which librdkafka asks for.
    private var answerBytes: Int { max(4 << 20, client.properties["message.max.bytes"].flatMap { Int($0) } ?? 0) }

    /// Whether librdkafka can be told how soon it looks for room again; before 2.2.0 it has to be reminded (`PrefetchRefill`).
    static let hasQueueBackoff = rd_kafka_version() >= 0x0202_0000

    /// How many records librdkafka may hold, whoever said so.
    var heldRecords: Int { client.properties["queued.min.messages"].flatMap { Int($0) } ?? prefetchedRecords }

    /// How many bytes it may hold, whoever said so.
    var heldBytes: Int {
        (client.properties["queued.max.messages.kbytes"].flatMap { Int($0) } ?? prefetchedKilobytes) << 10
    }

    /// Whether only what moves is given back at a rebalance, as far as it is up to this member.
    var isCooperative: Bool {
        (assignor?.rawValue ?? client.properties[Self.strategyProperty]) == Assignor.cooperativeSticky.rawValue
    }

    /// Whether the group keeps this member's place when it goes, and so is not told.
    var isStatic: Bool { groupInstanceID != nil || client.properties["group.instance.id"] != nil }

    private static let strategyProperty = "partition.assignment.strategy"

    /// Each strategy, and both of those that give everything back: a group can pass from one to the other by way of
    /// members that know both. librdkafka cannot pass from these to the cooperative one.
    private static let strategies =
        Set(Assignor.allCases.map(\.rawValue)).union(["range,roundrobin", "roundrobin,range"])

    private static let guards: [ClientProperties.Guard] = [
        .init(key: "group.id", allowed: [], reason: "set by groupID"),
        .init(
            key: strategyProperty, allowed: strategies,
            reason: "it takes range, roundrobin, both separated by a comma, or cooperative-sticky"),
        .init(
            key: "enable.auto.offset.store", allowed: ["false"],
            reason: "offsets would be committed before their records are dealt with"),
        .init(
            key: "enable.auto.commit", allowed: ["true"], reason: "stored offsets would not be committed"),
        .init(
            key: "auto.offset.reset", allowed: ["earliest", "beginning", "smallest", "error"],
            reason: "records that were never read would be skipped"),
        .init(
            key: "isolation.level", allowed: ["read_committed"], reason: "aborted records would be delivered"),
        .init(
            key: "enable.partition.eof", allowed: ["false"], reason: "the end of a partition is not an event here"),
    ]
}
