import Foundation

/// The part of librdkafka's statistics that becomes metrics. Member names are those of its `STATISTICS.md`.
struct Statistics: Decodable, Equatable {
    /// Records waiting to be sent or acknowledged, and their bytes.
    let msg_cnt: Int?
    let msg_size: Int?
    let brokers: [String: Broker]?
    let topics: [String: Topic]?
    let cgrp: Group?

    struct Broker: Decodable, Equatable {
        let nodeid: Int32
        let rtt: Window?
    }

    struct Window: Decodable, Equatable {
        /// Microseconds.
        let avg: Int64
        let p99: Int64
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

    static func decode(_ json: String) -> Statistics? {
        try? JSONDecoder().decode(Statistics.self, from: Data(json.utf8))
    }
}
