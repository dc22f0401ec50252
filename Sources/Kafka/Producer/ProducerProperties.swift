extension ClientProperties {
    /// An idempotent producer's, for records that all in-sync replicas have within ten seconds or that fail.
    static func producer(_ client: KafkaClientConfiguration) throws(KafkaError) -> ClientProperties {
        var defaults = [
            "enable.idempotence": "true",
            "acks": "all",
            "message.timeout.ms": "10000",
            // Longer than brokers mostly take. librdkafka 2.0.2 spins while a partition has one batch under way, and a
            // second one that has waited for this time. At the highest rate of signed transactions 5 ms give 0.98 of
            // the pace of 10 ms, and 1 ms 0.86 (medians, 12 partitions). A request goes out for each partition.
            "linger.ms": "5",
            "compression.codec": "lz4",
            // A quarantined record has its original size; the topic has the limit.
            "message.max.bytes": String(4 << 20),
            // Brokers hold a batch against a topic's limit, not a record. Of a batch that is too large for the topic
            // every record would be refused, however small it is.
            "batch.size": String(KafkaProducer.batchBytes),
            // Beyond it the result for a record is `full`.
            "queue.buffering.max.kbytes": String(32 << 10),
            // A topic that is missing is named as such before its records' time is over.
            "topic.metadata.propagation.max.ms": "5000",
        ]
        // librdkafka knows it by two names, and an operator may use either.
        if client.properties["delivery.timeout.ms"] != nil { defaults["message.timeout.ms"] = nil }
        return try ClientProperties(client, defaults: defaults, rules: producerRules)
    }

    private static let producerRules: [Rule] = [
        ("enable.idempotence", ["true"], "retries would duplicate and reorder records"),
        ("acks", ["all", "-1"], "an acknowledged record could be lost with its leader"),
        ("request.required.acks", ["all", "-1"], "an acknowledged record could be lost with its leader"),
        ("delivery.report.only.error", ["false"], "acknowledgements would never come"),
        ("transactional.id", [], "transactions are not offered"),
    ]
}
