import CLibrdkafka
import Testing

@testable import Kafka

struct KafkaErrorTests {
    @Test(
        "Each code tells the caller what to do",
        arguments: [
            (RD_KAFKA_RESP_ERR__TRANSPORT, KafkaError.Disposition.retry),
            (RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, .retry),
            (RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, .retry),
            (RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, .retry),
            (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, .configuration),
            (RD_KAFKA_RESP_ERR__AUTHENTICATION, .configuration),
            (RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, .reject),
            (RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, .reject),
            (RD_KAFKA_RESP_ERR__FATAL, .recreate),
            (RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, .recreate),
        ])
    func dispositions(code: rd_kafka_resp_err_t, disposition: KafkaError.Disposition) {
        #expect(KafkaError(code).disposition == disposition)
    }

    @Test("librdkafka's name and text are kept")
    func nameAndText() {
        let failure = KafkaError(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT).failure
        #expect(failure?.name == "_MSG_TIMED_OUT")
        #expect(failure?.description == "_MSG_TIMED_OUT: Local: Message timed out")
        #expect(failure?.code == -192)
    }

    @Test(
        "Every error is a sentence, without the name of a case",
        arguments: [
            (KafkaError.refusedProperty(key: "a.b", text: "it is not known"), "it is not known"),
            (KafkaError(RD_KAFKA_RESP_ERR__TRANSPORT), "_TRANSPORT: Local: Broker transport failure"),
            (.resourcesExhausted("no thread can be started"), "no thread can be started"),
        ])
    func sentences(error: KafkaError, sentence: String) {
        #expect("\(error)" == sentence)
    }
}
