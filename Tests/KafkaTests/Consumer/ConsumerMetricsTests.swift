import Contract
import Metrics
import Testing

@testable import Kafka

struct ClientStatisticsTests {
    @Test("The needed members are read, the others ignored")
    func decoding() throws {
        let json = """
            {"name":"x","msg_cnt":3,"brokers":{"b/1":{"nodeid":1,"state":"UP","rtt":{"avg":1500,"p99":9,"cnt":2}}},
            "topics":{"t":{"topic":"t","partitions":
            {"0":{"ls_offset":9,"hi_offset":9,"next_offset":3,"fetchq_cnt":1,"fetchq_size":10,"leader":1}}}},
            "cgrp":{"rebalance_cnt":2,"state":"up"}}
            """
        let statistics = try #require(ClientStatistics.decode(json))
        #expect(statistics.brokers?["b/1"]?.rtt?.avg == 1500)
        #expect(statistics.topics?["t"]?.partitions["0"]?.lag == 7)
        #expect(statistics.isConnected)
    }

    @Test(
        "A partition's lag is what is to be fetched and what was fetched, where both ends are known",
        arguments: [(9, 9, 0, 0), (9, 9, 4, 4), (-1001, 3, 0, nil), (9, -1001, 0, nil), (9, 10, 0, 0)])
    func lag(end: Int64, next: Int64, fetched: Int64, lag: Int64?) {
        let partition = ClientStatistics.Partition(
            ls_offset: end, hi_offset: end, next_offset: next, fetchq_cnt: fetched, fetchq_size: 0)
        #expect(partition.lag == lag)
    }

    @Test("Records that wait behind an open transaction count")
    func openTransaction() {
        let partition = ClientStatistics.Partition(
            ls_offset: 9, hi_offset: 12, next_offset: 9, fetchq_cnt: 0, fetchq_size: 0)
        #expect(partition.lag == 3)
    }

    @Test(
        "A cluster is connected if one of its own brokers is, whatever a bootstrap address does",
        arguments: [(1, "UP", true), (1, "DOWN", false), (1, "CONNECT", false), (-1, "UP", false)])
    func connected(id: Int, state: String, isConnected: Bool) throws {
        let json = #"{"brokers":{"a":{"nodeid":\#(id),"state":"\#(state)"}}}"#
        #expect(try #require(ClientStatistics.decode(json)).isConnected == isConnected)
    }

    @Test("A text of another form is no statistics", arguments: ["", "{", "[]", #"{"brokers":3}"#])
    func malformed(json: String) {
        #expect(ClientStatistics.decode(json) == nil)
    }
}

struct PartitionLagTests {
    private let registry = PrometheusRegistry()
    private let statistics = ClientStatistics(
        brokers: nil,
        topics: [
            "t": ClientStatistics.Topic(
                partitions: ["0": .init(ls_offset: 9, hi_offset: 9, next_offset: 3, fetchq_cnt: 0, fetchq_size: 0)])
        ])
    private let partition = TopicPartition(topic: "t", partition: 0)

    private func isShown(_ lag: Int) -> Bool {
        registry.render().contains("grantor_kafka_consumer_lag_records{topic=\"t\",partition=\"0\"} \(lag)\n")
    }

    @Test("A partition that is read has the lag of the statistics, and one that went to another member has none")
    func elsewhere() {
        var metrics = ConsumerMetrics(registry)
        metrics.show(statistics, read: [partition], waiting: [:])
        #expect(isShown(6))
        metrics.show(statistics, read: [], waiting: [:])
        #expect(isShown(0))
    }

    @Test("A partition that is read keeps the lag it had while nobody knows it, such as while its broker refuses")
    func unknown() {
        var metrics = ConsumerMetrics(registry)
        metrics.show(statistics, read: [partition], waiting: [:])
        let reply = ClientStatistics.Partition(
            ls_offset: -1, hi_offset: 9, next_offset: 3, fetchq_cnt: 0, fetchq_size: 0)
        metrics.show(
            ClientStatistics(brokers: nil, topics: ["t": .init(partitions: ["0": reply])]), read: [partition],
            waiting: [:])
        #expect(isShown(6))
    }

    @Test("Counters that alerts look at are there before their consumer")
    func fromTheStart() {
        ConsumerMetrics.showFromTheStart(registry)
        for name in [
            "records_gone_total", "offsets_went_back_total", "refusals_total", "refused_partitions",
            "unfetched_partitions",
        ] {
            #expect(registry.render().contains("grantor_kafka_consumer_\(name) 0\n"))
        }
    }

    @Test(
        "A partition that is read counts as refused while the broker's latest reply has no end",
        arguments: [(-1, true, 1), (-1, false, 0), (-1001, true, 0), (9, true, 0)])
    func refused(end: Int64, isRead: Bool, refused: Int) {
        var metrics = ConsumerMetrics(registry)
        let reply = ClientStatistics.Partition(
            ls_offset: end, hi_offset: 9, next_offset: 3, fetchq_cnt: 0, fetchq_size: 0)
        let statistics = ClientStatistics(brokers: nil, topics: ["t": .init(partitions: ["0": reply])])
        let count = metrics.show(statistics, read: isRead ? [partition] : [], waiting: [:])
        #expect(count == refused)
        #expect(registry.render().contains("grantor_kafka_consumer_refused_partitions \(refused)\n"))
    }

    @Test(
        "A partition that is read counts as not fetched until a broker has told its end, or refuses it",
        arguments: [(-1001, 0, true, 1), (9, -2, true, 1), (9, 3, true, 0), (-1, 3, true, 0), (-1001, 0, false, 0)])
    func unfetched(end: Int64, next: Int64, isRead: Bool, unfetched: Int) {
        var metrics = ConsumerMetrics(registry)
        let partitions = ClientStatistics.Topic(
            partitions: [
                "0": .init(ls_offset: end, hi_offset: end, next_offset: next, fetchq_cnt: 0, fetchq_size: 0)
            ])
        let read = isRead ? [partition] : []
        metrics.show(ClientStatistics(brokers: nil, topics: ["t": partitions]), read: read, waiting: [:])
        #expect(registry.render().contains("grantor_kafka_consumer_unfetched_partitions \(unfetched)\n"))
        metrics.show(ClientStatistics(brokers: nil, topics: nil), read: read, waiting: [:])
        #expect(registry.render().contains("grantor_kafka_consumer_unfetched_partitions \(read.count)\n"))
    }

    @Test("A partition that is granted and not read has what brokers say, or keeps what it had where they say nothing")
    func unread() {
        var metrics = ConsumerMetrics(registry)
        metrics.show(statistics, read: [], waiting: [partition: 20])
        #expect(isShown(20))
        metrics.show(statistics, read: [], waiting: [partition: Optional<Int64>.none])
        #expect(isShown(20))
    }
}
