internal import Logging
internal import Scheduling
internal import Threading

extension KafkaAdmin {
    /// Longest wait for an answer about one record: longer than librdkafka's own limit for it.
    private static let sendingLimit = Duration.seconds(30)

    /// Writes one record as a worker's producer would, and waits until all in-sync replicas have it or it is given up.
    /// - Returns: Where it stands, or why it was not taken; without an answer in time it may stand there all the same.
    /// - Throws: configuration errors, `resourcesExhausted`.
    public func send(_ record: KafkaProducerRecord) throws(KafkaError) -> KafkaDelivery {
        let wake: WakeDescriptor
        do throws(ThreadingError) {
            wake = try WakeDescriptor()
        } catch {
            throw KafkaError(error)
        }
        let client = try ProducerClient(
            properties: .producer(configuration), topics: [record.topic], wake: wake)
        defer {
            _ = client.release()
            if !client.handle.destroy(until: .now + Self.freeingLimit) {
                logger.warning("A Kafka client for administration was left behind: it is not freed in time")
            }
        }
        switch client.produce(record, token: 1) {
        case .accepted: break
        case .full: return .failed(.timedOut)
        case .refused(let refusal): return .failed(refusal)
        }
        let deadline = Instant.now + Self.sendingLimit
        while Instant.now < deadline {
            guard let event = client.nextEvent(milliseconds: 100) else { continue }
            var result: KafkaDelivery?
            if case .deliveries = event.content { event.forEachDelivery { result = client.report($0)?.result } }
            // A client in fatal state delivers nothing any more.
            if let failure = client.handle.fatalError?.failure { return .failed(.other(failure)) }
            if let result { return result }
        }
        return .failed(.timedOut)
    }
}
