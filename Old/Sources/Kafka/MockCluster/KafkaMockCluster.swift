internal import CLibrdkafka
import Glibc
import Synchronization

/// librdkafka's mock brokers: a cluster on loopback for tests and demonstrations, without persistence or security.
///
/// It keeps 5 MiB or 100,000 batches of a partition and drops older ones silently. A group's first assignment takes about
/// three seconds, each later one the session timeout less a second: use 6 s at most. Topics that nobody created come to
/// be with four partitions when a client asks for them. Faults are injected through the methods of this type.
///
/// `@unchecked Sendable`: the pointers never change and the mock's functions take its own lock; `state` guards the end.
public final class KafkaMockCluster: @unchecked Sendable {
    /// Where clients find it: `127.0.0.1:port`, one for each broker, separated by commas.
    public let bootstrapServers: String
    let cluster: OpaquePointer
    private let handle: KafkaHandle
    private let isStopped = Mutex(false)

    /// Starts `brokers` brokers, numbered from 1, on ports that the system chooses.
    ///
    /// Ignores SIGPIPE in the whole process: a client that goes away in the middle of an answer must not end it.
    /// - Throws: `resourcesExhausted`.
    public init(brokers: Int = 1) throws(KafkaError) {
        signal(SIGPIPE, SIG_IGN)
        // The mock lives in a client of its own that never connects anywhere.
        let configuration = KafkaClientConfiguration(
            bootstrapServers: "", clientID: "mock-cluster", statisticsInterval: .zero)
        handle = try KafkaHandle(
            RD_KAFKA_PRODUCER, properties: ClientProperties(configuration, defaults: [:], guards: []), events: 0)
        guard let cluster = rd_kafka_mock_cluster_new(handle.pointer, Int32(clamping: brokers)),
            let servers = rd_kafka_mock_cluster_bootstraps(cluster)
        else {
            handle.destroy(leavingGroup: false)
            throw .resourcesExhausted("rd_kafka_mock_cluster_new", errno: 0)
        }
        self.cluster = cluster
        bootstrapServers = String(cString: servers)
    }

    /// Does not wait for the end, as `stop()` does: it takes about a second, and whoever lets the last reference go
    /// may be a thread of Swift's pool.
    deinit {
        guard let end = claimEnd() else { return }
        do throws(KafkaError) {
            try DedicatedThread.start("kafka-mock-end") { end.run() }
        } catch {
            end.run()
        }
    }

    /// Closes all connections and forgets everything; blocks for about a second. Further calls do nothing; other methods must not be called after.
    public func stop() {
        claimEnd()?.run()
    }

    /// What is to be freed; nil for everybody but the first who asks.
    private func claimEnd() -> End? {
        let isFirst = isStopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        return isFirst ? End(cluster: cluster, handle: handle) : nil
    }

    /// `@unchecked Sendable`: whoever runs it is the only one left to use the pointer.
    private struct End: @unchecked Sendable {
        let cluster: OpaquePointer
        let handle: KafkaHandle

        func run() {
            rd_kafka_mock_cluster_destroy(cluster)
            handle.destroy(leavingGroup: false)
        }
    }

    /// Creates a topic without waiting for anybody to ask for it.
    /// - Throws: `rejected` when it exists.
    public func createTopic(_ name: String, partitions: Int, replicas: Int = 1) throws(KafkaError) {
        try check(rd_kafka_mock_topic_create(cluster, name, Int32(clamping: partitions), Int32(clamping: replicas)))
    }

    func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
    }
}
