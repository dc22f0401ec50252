import Fulfillment
import Kafka

/// Submits a wave and follows the output topics until everything in it is answered.
struct DemoWatch {
    /// How long nothing may arrive before the demo gives up.
    static let patience: Duration = .seconds(60)
    /// How often the display moves while nothing arrives.
    static let refresh: Duration = .milliseconds(100)

    /// The two ends of the topics, and what is known of the worker in between.
    struct Ends: Sendable {
        let producer: KafkaProducer
        /// Of the output topics.
        let consumer: KafkaConsumer
        let topics: TopicNames
        /// Whether so many messages have come into the ledger and all their events have left it; always true where the
        /// worker cannot be asked.
        let areSettled: @Sendable (_ submitted: Int) async throws -> Bool
    }

    let ends: Ends
    let display: ProgressDisplay
    private(set) var answers: DemoAnswers
    private let clock: any WorkerClock
    private var submitted = 0
    private var expectedQuarantined = 0
    private var lastArrival: Duration

    init(ends: Ends, mark: String, display: ProgressDisplay, clock: any WorkerClock) {
        self.ends = ends
        self.display = display
        answers = DemoAnswers(mark: mark)
        self.clock = clock
        lastArrival = clock.elapsed()
    }

    /// Produces a wave and waits until each of its messages was dealt with and answered.
    mutating func submit(_ wave: [WorkloadSubmission], called name: String) async throws {
        submitted += wave.count
        expectedQuarantined += wave.filter { $0.expectation == .quarantined }.count
        var pending = wave
        var rest = wave[...]
        while !rest.isEmpty {
            let batch = rest.prefix(DemoRun.produceBatch)
            rest = rest.dropFirst(DemoRun.produceBatch)
            let deliveries = await ends.producer.send(
                batch.map { KafkaProducerRecord(topic: ends.topics.submitted, key: $0.key, value: $0.value) })
            try Task.checkCancellation()
            for case .failed(let error, _) in deliveries { throw DemoError.notSubmitted(error) }
            try await follow(&pending, of: wave, called: name)
        }
        while !pending.isEmpty { try await follow(&pending, of: wave, called: name) }
        display.finish(name, done: wave.count, answers: answers)
    }

    private mutating func follow(
        _ pending: inout [WorkloadSubmission], of wave: [WorkloadSubmission], called name: String
    ) async throws {
        try await receive()
        let answers = answers
        let quarantineIsFull = answers.quarantined >= expectedQuarantined
        // What is asked for again is answered by an event that was there before, so its arrival tells nothing.
        let areSettled = try await ends.areSettled(submitted)
        pending.removeAll { submission in
            switch submission.expectation {
            case .quarantined: quarantineIsFull
            case .granted, .failed: answers.answers(submission) && (areSettled || !submission.isRepeat)
            }
        }
        display.update(name, done: wave.count - pending.count, of: wave.count, answers: answers)
        guard clock.elapsed() - lastArrival < Self.patience else {
            throw DemoError.stalled(
                answered: wave.count - pending.count, of: wave.count, waiting: Set(pending.map(\.kind)).sorted())
        }
    }

    /// Takes what the output topics have, or nothing for a moment.
    private mutating func receive() async throws {
        let consumer = ends.consumer
        let events = try await withThrowingTaskGroup(of: KafkaConsumerEvent?.self) { group in
            group.addTask {
                do {
                    return try await consumer.next(maxRecords: 500, maxBytes: 4 << 20)
                } catch KafkaError.cancelled {
                    return nil
                }
            }
            group.addTask {
                // Cancelled as soon as something arrives.
                do { try await Task.sleep(for: Self.refresh) } catch { return nil }
                return nil
            }
            var events: [KafkaConsumerEvent] = []
            while let event = try await group.next() {
                if let event { events.append(event) }
                group.cancelAll()
            }
            return events
        }
        for event in events {
            lastArrival = clock.elapsed()
            switch event {
            case .records(let records): answers.received(records, topics: ends.topics)
            case .revoking(let revocation): revocation.complete()
            case .assigned: break
            }
        }
    }
}
