internal import FoundationEssentials

/// The part of librdkafka's statistics that becomes metrics. Member names are those of its `STATISTICS.md`.
struct Statistics: Decodable, Equatable {
    let brokers: [String: Broker]?
    let topics: [String: Topic]?
    let cgrp: Group?

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
        /// -1 when it is not known.
        let consumer_lag: Int64
        let fetchq_cnt: Int64
        let fetchq_size: Int64
    }

    struct Group: Decodable, Equatable {
        let rebalance_cnt: Int
    }

    /// Whether a connection to one of the cluster's brokers stands; bootstrap connections do not count.
    var isConnected: Bool { (brokers ?? [:]).values.contains { $0.nodeid >= 0 && $0.state == "UP" } }

    static func decode(_ json: String) -> Statistics? {
        try? JSONDecoder().decode(Statistics.self, from: Data(json.utf8))
    }
}
