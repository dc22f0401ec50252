import CLibrdkafka
import Scheduling
import Testing

@testable import Kafka

struct RepeatedQuestionTests {
    private let start = Instant(nanoseconds: 0)

    @Test(
        "A broker's word that something passes is for the moment; silence, a refusal and librdkafka's own words are not",
        arguments: [
            (RD_KAFKA_RESP_ERR_NOT_COORDINATOR, true), (RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, true),
            (RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, true), (RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, true),
            (RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, true), (RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, true),
            (RD_KAFKA_RESP_ERR_NOT_CONTROLLER, true), (RD_KAFKA_RESP_ERR__TIMED_OUT, false),
            (RD_KAFKA_RESP_ERR__TRANSPORT, false), (RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, false),
            (RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, false), (RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, false),
        ])
    func forTheMoment(code: rd_kafka_resp_err_t, isForTheMoment: Bool) {
        #expect(KafkaError(code).isForTheMoment == isForTheMoment)
    }

    @Test("A question is asked again after pauses that grow to a second, until its time is over")
    func pauses() {
        let error = KafkaError(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
        var question = RepeatedQuestion(until: start + .milliseconds(3000))
        var (now, pauses) = (start, [Duration]())
        while let pause = question.pause(after: error, at: now) {
            pauses.append(pause)
            now = now + pause
        }
        #expect(pauses == [50, 100, 200, 400, 800, 1000, 450].map { .milliseconds($0) })
    }

    @Test("Its tries are bounded, and another answer is the last at once")
    func bounds() {
        var question = RepeatedQuestion(until: .distantFuture)
        let error = KafkaError(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
        var tries = 1
        while question.pause(after: error, at: start) != nil { tries += 1 }
        #expect(tries == RepeatedQuestion.maxTries)
        var other = RepeatedQuestion(until: .distantFuture)
        #expect(other.pause(after: KafkaError(RD_KAFKA_RESP_ERR__TRANSPORT), at: start) == nil)
    }
}

struct CreatedTopicsTests {
    private let passing = KafkaError(RD_KAFKA_RESP_ERR_NOT_CONTROLLER)
    private let exists = KafkaError(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)

    @Test("Only topics whose answer was for the moment are asked for again; one that is there then was made by us")
    func again() {
        let names = ["made", "there", "late", "refused"]
        var topics = CreatedTopics(names.map { KafkaNewTopic(name: $0, partitions: 1) })
        #expect(topics.open.map(\.name) == names && topics.unsettled == nil)
        let refused = KafkaError(RD_KAFKA_RESP_ERR_POLICY_VIOLATION)
        topics.take([
            "made": .success(()), "there": .failure(exists), "late": .failure(passing), "refused": .failure(refused),
        ])
        #expect(topics.open.map(\.name) == ["late"] && topics.unsettled == passing)
        topics.take(["late": .failure(exists)])
        #expect(topics.open.isEmpty && topics.unsettled == nil)
        let refusals = topics.byName.compactMapValues { if case .failure(let error) = $0 { error } else { nil } }
        #expect(topics.byName.count == 4 && refusals == ["there": exists, "refused": refused])
        #expect(topics.made == ["made", "late"])
    }
}
