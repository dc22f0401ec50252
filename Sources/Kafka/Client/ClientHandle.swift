internal import CLibrdkafka
internal import Contract
internal import Scheduling
internal import Threading

/// A librdkafka client instance. Its owner calls ``destroy()`` last, which frees it once.
///
/// `@unchecked Sendable`: the pointer never changes, and librdkafka's handle may be used from any thread. By this
/// module's rule only the owner thread uses and destroys it once that thread runs.
package final class ClientHandle: @unchecked Sendable {
    package let pointer: OpaquePointer

    /// Makes a client whose logs, errors, statistics and `events` come out of its queues. No C callback is registered,
    /// so librdkafka's threads never reach a Swift object.
    init(_ type: rd_kafka_type_t, properties: ClientProperties, events: Int32 = 0) throws(KafkaError) {
        guard let configuration = rd_kafka_conf_new() else { throw .noMemory(for: "rd_kafka_conf_new") }
        for (key, value) in properties.values.sorted(by: { $0.key < $1.key }) {
            // librdkafka's text is not asked for: it repeats the value, which may be a password.
            let result = rd_kafka_conf_set(configuration, key, value, nil, 0)
            guard result == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                throw .refusedProperty(
                    key: key,
                    text: result == RD_KAFKA_CONF_UNKNOWN
                        ? "librdkafka knows no property \(key)" : "the property \(key) does not take this value")
            }
        }
        rd_kafka_conf_set_events(
            configuration, events | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS)
        var text = [CChar](repeating: 0, count: 512)
        guard let pointer = rd_kafka_new(type, configuration, &text, text.count) else {
            let code = rd_kafka_last_error()
            // A failed rd_kafka_new leaves the configuration with its caller.
            rd_kafka_conf_destroy(configuration)
            throw .invalidConfiguration(KafkaFailure(code, text: String(cText: text)))
        }
        self.pointer = pointer
    }

    /// Frees the client and joins its threads; no group is left. Every queue, event, message and list of it must be
    /// gone before.
    func destroy() { rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) }

    /// As ``destroy()``, on a thread of its own and until `deadline`: some librdkafka versions hang in it.
    /// - Returns: whether it was over in time; if not, the thread is left behind with the handle.
    func destroy(until deadline: Instant) -> Bool {
        do throws(ThreadingError) {
            let done = try WakeDescriptor()
            let thread = try OwnerThread(name: "kafka-teardown") { [self] in
                destroy()
                done.signal()
            }
            guard done.wait(until: deadline) else { return false }
            thread.join()
            return true
        } catch {
            // No thread to watch it from; this one is the caller's own.
            destroy()
            return true
        }
    }

    /// Waits until librdkafka has stopped the partitions that the last change of the assignment removed. To be called
    /// before the next one.
    ///
    /// A removed partition counts as started until librdkafka's main thread has taken the reply to its stop from its
    /// own queue. A change that comes before asks it to stop a second time. The second reply ends the process, by an
    /// assertion (`rktp->rktp_started`) or by SIGSEGV. librdkafka up to 2.15 does so (its issue 5573). Two assignments
    /// without a pause between end it within 20 ms. The thread takes its queue in order: the first question comes back
    /// behind the stops, the second behind their replies.
    func waitForAssignment() {
        for _ in 0..<2 {
            var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
            // It fails only where there is no group, and so no assignment.
            if rd_kafka_assignment(pointer, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list {
                rd_kafka_topic_partition_list_destroy(list)
            }
        }
    }

    var fatalError: KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return .fatal(KafkaFailure(code, text: String(cText: text)))
    }

    /// The offsets (the next to be read) that the client's own group has committed. Partitions without one and unknown
    /// topics are left out. Asks the group's coordinator and waits. The client need not be a member.
    ///
    /// `ListConsumerGroupOffsets` (KIP-222) would not wait. In librdkafka 2.0 it ends the process while a coordinator
    /// moves or loads, by an assertion (`eonce->refcnt > 0`). If the client has no group, librdkafka ends the process
    /// by SIGSEGV.
    /// - Throws: `denied` where the group may not be looked at, `transient` when its coordinator does not reply within
    ///   `timeout`.
    func committedOffsets(
        _ partitions: some Collection<TopicPartition>, timeout: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = try PartitionList(partitions)
        try KafkaError.check(rd_kafka_committed(pointer, list.pointer, timeout.wholeMilliseconds))
        let missing = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue
        let refused = list.refused.filter { $0.value.failure?.code != missing }
        if let error = refused.min(by: { $0.key < $1.key })?.value { throw error }
        return list.offsets.filter { $0.value >= 0 }
    }

    /// The ends of partitions, as readers of committed transactions see them. Asks their leaders and waits. Partitions
    /// whose leader refuses are left out.
    /// - Throws: `transient` when not all replied within `timeout`.
    func endOffsets(
        _ partitions: some Collection<TopicPartition>, timeout: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        // A time of -1 asks for the end (the protocol's ListOffsets).
        let list = try PartitionList(offsets: Dictionary(partitions.map { ($0, -1) }) { first, _ in first })
        try KafkaError.check(rd_kafka_offsets_for_times(pointer, list.pointer, timeout.wholeMilliseconds))
        return list.offsets.filter { $0.value >= 0 }
    }

    /// All partitions of a topic. Asks a broker and waits.
    /// - Throws: `transient` when no broker replies within `timeout`; the broker's error where it has no answer, such
    ///   as for an unknown topic.
    func partitions(of topic: String, timeout: Duration) throws(KafkaError) -> [TopicPartition] {
        switch try metadata(of: topic, timeout: timeout).topics[topic] {
        case .present(let partitions) where partitions.count > 0:
            return (0..<Int32(partitions.count)).map { TopicPartition(topic: topic, partition: $0) }
        case .failed(let error): throw error
        case .present, .missing, nil: throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        }
    }

    /// The cluster's brokers with one topic, or with all that the credentials may see. Asks a broker and waits.
    ///
    /// Some brokers create a topic that is asked for by its name. A consumer's question forbids it, as long as
    /// `allow.auto.create.topics` is false.
    /// - Throws: `transient` when no broker replies within `timeout`.
    func metadata(of topic: String?, timeout: Duration) throws(KafkaError) -> KafkaClusterDescription {
        var one: OpaquePointer?
        if let topic {
            one = rd_kafka_topic_new(pointer, topic, nil)
            guard one != nil else { throw KafkaError(rd_kafka_last_error()) }
        }
        defer { if let one { rd_kafka_topic_destroy(one) } }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(pointer, one == nil ? 1 : 0, one, &metadata, timeout.wholeMilliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaError(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        return KafkaClusterDescription(metadata.pointee, id: clusterID)
    }

    /// The cluster's id as a broker has named it; nil before that, and for brokers that name none. Does not wait.
    var clusterID: String? {
        guard let id = rd_kafka_clusterid(pointer, 0) else { return nil }
        defer { rd_kafka_mem_free(pointer, id) }
        return String(cString: id)
    }
}

extension String {
    init(cText buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The librdkafka properties of one client: this module's defaults, then the operator's, without those that may not be
/// changed.
struct ClientProperties: Sendable {
    /// A property that the operator may set to nothing but `allowed`.
    typealias Rule = (key: String, allowed: Set<String>, reason: String)

    private(set) var values: [String: String]

    /// - Parameter forced: values that win over the operator's.
    init(
        _ configuration: KafkaClientConfiguration, defaults: [String: String] = [:], rules: [Rule] = [],
        forced: [String: String] = [:]
    ) throws(KafkaError) {
        for rule in Self.commonRules + rules {
            guard let value = configuration.properties[rule.key], !rule.allowed.contains(value) else { continue }
            throw .refusedProperty(key: rule.key, text: "the property \(rule.key) cannot be set so: \(rule.reason)")
        }
        // librdkafka reads `10s` as 10.
        for (key, value) in configuration.properties where key.hasSuffix(".ms") && Double(value) == nil {
            throw .refusedProperty(key: key, text: "the property \(key) takes milliseconds without a unit")
        }
        values = [
            "bootstrap.servers": configuration.bootstrapServers,
            "client.id": configuration.clientID,
            // A request to a broker that froze would else hang for a minute.
            "socket.timeout.ms": "10000",
            "socket.nagle.disable": "true",
            "socket.keepalive.enable": "true",
            // Without it librdkafka writes to standard error from its own threads.
            "log.queue": "true",
        ]
        values.merge(defaults) { _, new in new }
        values.merge(configuration.properties) { _, new in new }
        values.merge(forced) { _, new in new }
    }

    /// Values that are never shown: passwords, private keys and tokens, by librdkafka's names.
    var secrets: [String] {
        values.filter { key, value in
            !value.isEmpty && ["password", "secret", "key.pem", "oauthbearer.config"].contains { key.contains($0) }
        }.map(\.value)
    }

    /// Makes a client of these properties and throws it away; no broker is asked.
    func check(_ type: rd_kafka_type_t) throws(KafkaError) {
        let handle = try ClientHandle(type, properties: self)
        // A client that is not freed in time was accepted all the same.
        _ = handle.destroy(until: .now + .seconds(5))
    }

    private static let commonRules: [Rule] = [
        ("bootstrap.servers", [], "it has a setting of its own"),
        ("metadata.broker.list", [], "bootstrap.servers has a setting of its own"),
        ("client.id", [], "the program sets it"),
        ("statistics.interval.ms", [], "metrics and the watch over the client rest on it"),
        ("log.queue", ["true"], "logs come through it"),
    ]
}

/// How a client reaches its cluster.
public struct KafkaClientConfiguration: Sendable {
    /// Addresses of some of the cluster's brokers: `host:port`, separated by commas. Several, so that one may be away.
    public var bootstrapServers: String
    /// The name that brokers' logs and quotas know this client by.
    public var clientID: String
    /// librdkafka properties passed through (SASL, TLS, tuning); they win over this module's defaults. Properties that
    /// its guarantees depend on are refused. Values are never logged.
    public var properties: [String: String]

    public init(bootstrapServers: String, clientID: String = "grantor", properties: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }
}

extension Duration {
    /// Whole milliseconds for a C timeout: rounded up, so that a loop never spins through the last fraction.
    package var wholeMilliseconds: Int32 {
        let milliseconds = self / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Double(Int32.max)))
    }
}
