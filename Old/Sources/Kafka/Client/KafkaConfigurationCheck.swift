internal import CLibrdkafka

extension KafkaConsumerConfiguration {
    /// Makes a client with exactly what ``KafkaConsumer`` would be made with, and throws it away: what this accepts, a
    /// consumer accepts. The group is not joined.
    ///
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public func check() async throws(KafkaError) {
        try await KafkaHandle.check(RD_KAFKA_CONSUMER, properties: try properties())
    }
}

extension KafkaProducerConfiguration {
    /// Makes a client with exactly what ``KafkaProducer`` would be made with, and throws it away: what this accepts, a
    /// producer accepts.
    ///
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public func check() async throws(KafkaError) {
        try await KafkaHandle.check(RD_KAFKA_PRODUCER, properties: try properties())
    }
}

extension KafkaHandle {
    /// How long freeing a client that was only made may hold a worker's start up.
    private static let checkDeadline = Duration.seconds(5)

    /// On a thread of its own: freeing a client waits for librdkafka's threads.
    fileprivate static func check(_ type: rd_kafka_type_t, properties: ClientProperties) async throws(KafkaError) {
        try await DedicatedThread.call("kafka-check") {
            Result { () throws(KafkaError) in
                let handle = try KafkaHandle(type, properties: properties, events: 0)
                // A client that is not freed in time was accepted all the same, and no supervisor may yet be answered.
                _ = try handle.destroy(leavingGroup: false, timeout: checkDeadline)
            }
        }
    }
}
