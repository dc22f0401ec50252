import Kafka
import Logging
import Purchases
import Synchronization

/// A claim that is on the input topic.
struct Submitted: Sendable {
    let claim: Claim
    let message: ClaimWriter.Message
    let partition: Int32
    let offset: Int64
    /// Milliseconds since 1970, by the clock of this machine.
    let sentAt: Int64
}

/// Draws claims, writes them and puts them on the input topic, at a steady rate, until it has done all.
final class Submitter: Sendable {
    /// Records sent at once, at most: what piled up while the broker was away.
    static let batch = 200

    /// Everything that the broker acknowledged.
    struct Log: Sendable {
        var submitted: [Submitted] = []
        /// Records that may be on the topic although the broker did not say so: a copy was sent after each.
        var sentAgain = 0
    }

    private let producer: KafkaProducer
    private let log = Mutex(Log())

    init(_ client: KafkaClientConfiguration) throws {
        producer = try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: .silent)
    }

    /// What is on the topic so far.
    var soFar: Log { log.withLock { $0 } }

    var count: Int { log.withLock { $0.submitted.count } }

    /// Submits `total` claims over a time, evenly; returns when the broker has all of them.
    func submit(_ total: Int, over length: Duration, from plan: ClaimPlan, by writer: ClaimWriter) async throws {
        var plan = plan
        let start = ContinuousClock.now
        var drawn = 0
        // A duplicate is the same to the last byte, which signing anew would not give.
        var written: [Int: ClaimWriter.Message] = [:]
        while drawn < total {
            let elapsed = ContinuousClock.now - start
            let due = min(total, Int(Double(total) * (elapsed / length)) + 1)
            guard due > drawn else {
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            let claims = (drawn..<min(due, drawn + Self.batch)).map { _ in plan.next() }
            drawn += claims.count
            var messages: [(claim: Claim, message: ClaimWriter.Message)] = []
            for claim in claims {
                let message = try written[claim.number] ?? writer.write(claim)
                written[claim.number] = message
                messages.append((claim, message))
            }
            try await send(messages)
        }
    }

    /// Until the broker has them all. A copy of an unacknowledged record is as good as the record: submissions repeat.
    private func send(_ messages: [(claim: Claim, message: ClaimWriter.Message)]) async throws {
        var left = messages
        while !left.isEmpty {
            try Task.checkCancellation()
            let sentAt = SystemTime.milliseconds
            let deliveries = await producer.send(
                left.map { KafkaProducerRecord(topic: Topic.submitted, key: $0.message.key, value: $0.message.value) })
            var failed: [(claim: Claim, message: ClaimWriter.Message)] = []
            log.withLock { log in
                for (message, delivery) in zip(left, deliveries) {
                    switch delivery {
                    case .delivered(let partition, let offset):
                        log.submitted.append(
                            Submitted(
                                claim: message.claim, message: message.message, partition: partition.index,
                                offset: offset, sentAt: sentAt))
                    case .failed:
                        log.sentAgain += 1
                        failed.append(message)
                    }
                }
            }
            left = failed
        }
    }

    /// Frees the client.
    func close() async {
        await producer.close(deadline: .seconds(5))
    }
}
