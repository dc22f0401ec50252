import CLibrdkafka
import Glibc

/// librdkafka's mock brokers: a cluster on loopback for tests and demonstrations, without persistence or security.
///
/// It keeps 5 MiB or 100,000 batches of a partition and drops older ones silently. A group's first assignment takes
/// about three seconds, each later one the session timeout less a second: use 6 s at most. Topics that nobody created
/// come to be with four partitions when a client asks for them.
struct MockCluster: ~Copyable {
    /// Addresses of its brokers: `127.0.0.1:port`, separated by commas.
    let bootstrapServers: String
    private let cluster: OpaquePointer
    /// The client that the mock lives in; it never connects anywhere.
    private let client: OpaquePointer

    /// Starts brokers, numbered from 1, on ports that the system chooses.
    ///
    /// Ignores SIGPIPE in the whole process: a client that goes away amid a reply must not end it.
    init(brokers: Int32) throws(MockError) {
        signal(SIGPIPE, SIG_IGN)
        guard let client = rd_kafka_new(RD_KAFKA_PRODUCER, nil, nil, 0) else {
            throw MockError(code: rd_kafka_last_error())
        }
        guard let cluster = rd_kafka_mock_cluster_new(client, brokers),
            let servers = rd_kafka_mock_cluster_bootstraps(cluster)
        else {
            rd_kafka_destroy(client)
            throw MockError(code: RD_KAFKA_RESP_ERR__FAIL)
        }
        self.client = client
        self.cluster = cluster
        bootstrapServers = String(cString: servers)
    }

    /// Closes all connections and forgets everything; blocks for about a second.
    deinit {
        rd_kafka_mock_cluster_destroy(cluster)
        rd_kafka_destroy(client)
    }

    /// Creates a topic without waiting for anybody to ask for it.
    func createTopic(_ name: String, partitions: Int32) throws(MockError) {
        try check(rd_kafka_mock_topic_create(cluster, name, partitions, 1))
    }

    /// Answers the next requests of a kind, whichever broker they reach, with an error.
    func pushErrors(apiKey: Int16, code: Int32, count: Int) {
        let codes = Array(repeating: rd_kafka_resp_err_t(rawValue: code), count: count)
        rd_kafka_mock_push_request_errors_array(cluster, apiKey, count, codes)
    }

    /// Closes a broker's connections and accepts none until it is set up again.
    func setDown(broker: Int32) throws(MockError) { try check(rd_kafka_mock_broker_set_down(cluster, broker)) }

    /// Lets a broker accept connections again.
    func setUp(broker: Int32) throws(MockError) { try check(rd_kafka_mock_broker_set_up(cluster, broker)) }

    /// Delays each of a broker's answers.
    func setRoundTrip(milliseconds: Int32, broker: Int32) throws(MockError) {
        try check(rd_kafka_mock_broker_set_rtt(cluster, broker, milliseconds))
    }

    /// Moves a partition to another leader; -1 leaves it without one.
    func setLeader(topic: String, partition: Int32, broker: Int32) throws(MockError) {
        try check(rd_kafka_mock_partition_set_leader(cluster, topic, partition, broker))
    }

    /// Moves a group to another coordinator.
    func setCoordinator(group: String, broker: Int32) throws(MockError) {
        try check(rd_kafka_mock_coordinator_set(cluster, "group", group, broker))
    }

    private func check(_ code: rd_kafka_resp_err_t) throws(MockError) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw MockError(code: code) }
    }
}

/// librdkafka's answer to a command that it did not carry out.
struct MockError: Error, CustomStringConvertible {
    let code: rd_kafka_resp_err_t

    var description: String { rd_kafka_err2str(code).map(String.init(cString:)) ?? "error \(code.rawValue)" }
}
