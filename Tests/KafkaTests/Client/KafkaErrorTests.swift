import CLibrdkafka
import Contract
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

    @Test("Records that librdkafka could not read are told from its other errors, which are its own to mend")
    func records() {
        #expect(KafkaError.isOfRecords(RD_KAFKA_RESP_ERR__BAD_MSG, at: 7))
        #expect(KafkaError.isOfRecords(RD_KAFKA_RESP_ERR__BAD_COMPRESSION, at: 7))
        #expect(!KafkaError.isOfRecords(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, at: 7))
        #expect(!KafkaError.isOfRecords(RD_KAFKA_RESP_ERR__BAD_MSG, at: Int64(RD_KAFKA_OFFSET_INVALID)))
    }

    @Test("A batch that nobody can read is told with its place, and is not tried again")
    func unreadableBatch() {
        let partition = TopicPartition(topic: "receipts.submitted", partition: 3)
        let damaged = KafkaError.unreadableBatch(of: partition, at: 7, RD_KAFKA_RESP_ERR__BAD_MSG, text: "CRC32C")
        #expect(damaged.disposition == .reject)
        #expect(
            "\(damaged)"
                == "_BAD_MSG: a batch of receipts.submitted/3 at offset 7 is damaged and cannot be read: CRC32C")
        let strange = KafkaError.unreadableBatch(of: partition, at: 7, RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED, text: "zstd")
        #expect("\(strange)".hasSuffix("at offset 7 cannot be read: zstd"))
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
