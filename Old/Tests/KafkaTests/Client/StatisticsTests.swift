import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct StatisticsTests {
    @Test("The needed members are read, the others ignored")
    func decoding() throws {
        let json = """
            {"name":"x","msg_cnt":3,"msg_size":30,"brokers":{"b/1":{"nodeid":1,"rtt":{"avg":1500,"p99":9,"cnt":2,"min":1}}},
            "topics":{"t":{"topic":"t","partitions":{"0":{"consumer_lag":7,"fetchq_cnt":1,"fetchq_size":10,"leader":1}}}},
            "cgrp":{"rebalance_cnt":2,"state":"up"}}
            """
        let statistics = try #require(Statistics.decode(json))
        #expect(statistics.msg_cnt == 3)
        #expect(statistics.brokers?["b/1"]?.rtt?.avg == 1500)
        #expect(statistics.topics?["t"]?.partitions["0"]?.consumer_lag == 7)
        #expect(statistics.cgrp?.rebalance_cnt == 2)
    }

    @Test("What is not JSON is no statistics", arguments: ["", "{", "[]", "{\"msg_cnt\":\"x\"}"])
    func malformed(json: String) {
        #expect(Statistics.decode(json) == nil)
    }

    @Test("A consumer's lag and its brokers' round trips reach the metrics")
    func consumerMetrics() async throws {
        let bench = try Bench()
        let metrics = RecordingMetrics()
        try await bench.fill(0..<30)
        let consumer = try bench.consumer {
            $0.client.metricsFactory = metrics
            $0.client.statisticsInterval = .milliseconds(100)
        }
        _ = try await consumer.read(30, maxRecords: 30)
        // librdkafka measures the lag from what is committed.
        try await consumer.storeOffsets([bench.partition(0): 25])
        try await consumer.commit()
        async let roundTrip = metrics.value("kafka_consumer_broker_rtt_seconds{1}") { _ in true }
        async let rebalances = metrics.value("kafka_consumer_rebalances") { $0 > 0 }
        let lag = try await metrics.value("kafka_consumer_lag_records{\(Bench.topic),0}") { _ in true }
        #expect(lag == 5)
        #expect(try await roundTrip < 5)
        #expect(try await rebalances == 1)
        await consumer.close(deadline: .seconds(10))
    }

    @Test("A broker that is gone is counted, not thrown")
    func transportErrors() async throws {
        let bench = try Bench()
        let metrics = RecordingMetrics()
        let consumer = try bench.consumer { $0.client.metricsFactory = metrics }
        _ = try await consumer.assignment()
        async let errors = metrics.value("kafka_consumer_errors{_TRANSPORT}") { $0 == 1 }
        try bench.setDown(broker: 1)
        #expect(try await errors == 1)
        try bench.cluster.setUp(broker: 1)
        try await bench.fill(0..<1)
        #expect(try await consumer.read(1).map(\.text) == ["0"])
        await consumer.close(deadline: .seconds(10))
    }
}
