internal import CLibrdkafka
internal import Scheduling
internal import Threading

/// How often a question is asked whose reply is not the broker's last one. Pure.
///
/// A broker that has just started, or that takes over a partition or a group, says so (``KafkaError/isForTheMoment``).
/// After some of these replies librdkafka asks again by itself, and it hands others on.
struct RepeatedQuestion {
    /// Most tries, whatever time there is.
    static let maxTries = 200
    /// Between two tries: from 50 ms on, twice as long each time, a second at most.
    private static let pauses = Backoff(base: .milliseconds(50), cap: .seconds(1))

    private let deadline: Instant
    private var tries = 0

    init(until deadline: Instant) { self.deadline = deadline }

    /// How long to wait before the next try; nil if this reply is the last one.
    mutating func pause(after error: KafkaError, at now: Instant) -> Duration? {
        tries += 1
        guard error.isForTheMoment, tries < Self.maxTries, now < deadline else { return nil }
        return min(Self.pauses.ceiling(afterFailures: tries), deadline - now)
    }
}

extension KafkaError {
    /// Whether it is a broker's own word for something that passes within seconds. A leader or a coordinator is
    /// elected, moves or loads, or a new topic is not known everywhere. Silence is no such word.
    ///
    /// These are the codes of replies to questions that Kafka's protocol calls retriable.
    package var isForTheMoment: Bool { failure.map { Self.momentary.contains($0.code) } ?? false }

    private static let momentary: Set<Int32> = Set(
        [
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
            RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
            RD_KAFKA_RESP_ERR_NOT_CONTROLLER, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
            RD_KAFKA_RESP_ERR_LISTENER_NOT_FOUND, RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
            RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH, RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
        ].map(\.rawValue))
}

extension KafkaAdmin {
    /// Asks, and asks again while the reply is for the moment and the time for a question is not over.
    /// - Parameters:
    ///   - unsettled: the part of a reply that is for the moment, if there is one.
    ///   - ask: one try, with a time limit of its own.
    /// - Returns: the last reply, settled or not.
    package func untilSettled<Value>(
        unsettled: (Value) -> KafkaError? = { _ in nil }, _ ask: () throws(KafkaError) -> Value
    ) throws(KafkaError) -> Value {
        var question = RepeatedQuestion(until: .now + timeout)
        while true {
            let reply = Result { () throws(KafkaError) in try ask() }
            let error: KafkaError?
            switch reply {
            case .success(let value): error = unsettled(value)
            case .failure(let failure): error = failure
            }
            guard let error, let pause = question.pause(after: error, at: .now) else { return try reply.get() }
            do throws(ThreadingError) {
                try WakeDescriptor().wait(until: .now + pause)
            } catch {
                throw KafkaError(error)
            }
        }
    }
}
