internal import CLibrdkafka
internal import Scheduling

/// The cluster, the group and the topics of a consumer.
public struct KafkaConsumerConfiguration: Sendable {
    public var client: KafkaClientConfiguration
    public var groupID: String
    /// The topics to read; a name that begins with `^` is a regular expression.
    public var topics: [String]
    /// A name for static membership: a restart within the session timeout then moves no partition. No two members may
    /// have the same id, else the member that joined first ends with a fatal error. Nil, the default, leaves it to the
    /// property `group.instance.id`.
    public var groupInstanceID: String?
    /// Remedies for errors that no retry mends, by their names such as `UNKNOWN_TOPIC_OR_PART`: for the log.
    public var remedies: [String: String]

    public init(
        client: KafkaClientConfiguration, groupID: String, topics: [String], groupInstanceID: String? = nil,
        remedies: [String: String] = [:]
    ) {
        self.client = client
        self.groupID = groupID
        self.topics = topics
        self.groupInstanceID = groupInstanceID
        self.remedies = remedies
    }

    /// The time after which the group does without a member that is silent. A worker that is killed leaves its
    /// partitions unread for so long.
    static let sessionTimeout = Duration.seconds(15)
    /// librdkafka waits for the reply to a join for this time and a few seconds. The group waits so long for a member
    /// to rejoin. The owner thread turns every second whatever its owner does, so the time can be short. With
    /// librdkafka's default of five minutes, a coordinator that froze during a join stopped a whole group for 82 s.
    static let maxPollInterval = Duration.seconds(20)
    /// Time until a member notices partitions that were added to the topic, and the group divides them.
    static let refreshInterval = Duration.seconds(30)
    /// Interval of librdkafka's statistics: metrics, reachability, and a sign that its main thread lives.
    static let statisticsInterval = Duration.seconds(5)
    /// Records that librdkafka holds ready of each partition, and their KiB, unless the operator says otherwise. With a
    /// queue for each partition both bind for each of them; nothing in librdkafka binds over all.
    static let (prefetchedRecords, prefetchedKilobytes) = (20_000, 512)
    /// Compressed bytes of one partition in a reply, which may be held besides. A larger record comes alone (KIP-74).
    static let partitionReplyBytes = 256 << 10

    func properties() throws(KafkaError) -> ClientProperties {
        var defaults = [
            "group.id": groupID,
            Self.strategyProperty: "range",
            "session.timeout.ms": String(Self.sessionTimeout.wholeMilliseconds),
            "heartbeat.interval.ms": "3000",
            "max.poll.interval.ms": String(Self.maxPollInterval.wholeMilliseconds),
            "statistics.interval.ms": String(Self.statisticsInterval.wholeMilliseconds),
            // Offsets are committed by name, after the ledger has them.
            "enable.auto.commit": "false",
            "enable.auto.offset.store": "false",
            // An offset out of range comes as an error, and the consumer itself goes on at the oldest record. By itself
            // librdkafka would say so in its log only. It would also go on resetting a partition that is not read.
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "check.crcs": "true",
            "topic.metadata.refresh.interval.ms": String(Self.refreshInterval.wholeMilliseconds),
            "fetch.wait.max.ms": "100",
            "fetch.max.bytes": String(replyBytes),
            "queued.min.messages": String(Self.prefetchedRecords),
            "queued.max.messages.kbytes": String(Self.prefetchedKilobytes),
            "max.partition.fetch.bytes": String(Self.partitionReplyBytes),
        ]
        // librdkafka knows it by two names, and an operator may use either.
        if client.properties["fetch.message.max.bytes"] != nil { defaults["max.partition.fetch.bytes"] = nil }
        if Self.hasQueueBackoff { defaults["fetch.queue.backoff.ms"] = "10" }
        var client = client
        if let groupInstanceID { client.properties["group.instance.id"] = groupInstanceID }
        return try ClientProperties(client, defaults: defaults, rules: Self.rules)
    }

    /// Makes a client with exactly the properties that ``KafkaConsumer`` would use, and drops it. A consumer accepts
    /// the same properties. The group is not joined.
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public func check() throws(KafkaError) { try properties().check(RD_KAFKA_CONSUMER) }

    /// Most bytes of one reply, which stays in memory as long as any of its records waits: 4 MiB instead of
    /// librdkafka's default of 50. It is more if the operator allows a larger record, because librdkafka requires that.
    private var replyBytes: Int { max(4 << 20, client.properties["message.max.bytes"].flatMap { Int($0) } ?? 0) }

    /// Whether librdkafka has a property for how soon it looks for room again. Before 2.2.0 it has to be reminded
    /// (``PrefetchRefill``).
    static let hasQueueBackoff = rd_kafka_version() >= 0x0202_0000

    /// Records that librdkafka may hold of a partition, by the properties file or by default.
    var heldRecords: Int { client.properties["queued.min.messages"].flatMap { Int($0) } ?? Self.prefetchedRecords }

    /// Bytes that it may hold of it, by the properties file or by default.
    var heldBytes: Int {
        (client.properties["queued.max.messages.kbytes"].flatMap { Int($0) } ?? Self.prefetchedKilobytes) << 10
    }

    /// Whether this member gives back only partitions that move at a rebalance.
    var isCooperative: Bool { client.properties[Self.strategyProperty] == "cooperative-sticky" }

    /// Whether the group keeps this member when it leaves; it then leaves without a message.
    var isStatic: Bool { groupInstanceID != nil || client.properties["group.instance.id"] != nil }

    private static let strategyProperty = "partition.assignment.strategy"

    /// Each strategy, and both eager ones together: members that know both allow a group to change between them. A
    /// change from these to the cooperative one is impossible in librdkafka.
    private static let strategies: Set = [
        "range", "roundrobin", "range,roundrobin", "roundrobin,range", "cooperative-sticky",
    ]

    private static let rules: [ClientProperties.Rule] = [
        ("group.id", [], "it has a setting of its own"),
        (strategyProperty, strategies, "it takes range, roundrobin, both separated by a comma, or cooperative-sticky"),
        ("group.protocol", ["classic"], "only the classic one has the strategies and times that this program sets"),
        ("enable.auto.offset.store", ["false"], "offsets would be committed before their records are complete"),
        ("enable.auto.commit", ["false"], "offsets are committed by name, after the ledger has them"),
        ("auto.offset.reset", ["error"], "the worker itself goes on at the oldest record, and tells of those between"),
        ("isolation.level", ["read_committed"], "aborted records would be read"),
        ("enable.partition.eof", ["false"], "the end of a partition is no event here"),
    ]
}
