import CommandParser
import Contract
import Kafka
import Testing

@testable import Commands

@Suite("grantor quarantine")
struct QuarantineCommandTests {
    private var grantor: SampleRun
    private let note = "--actor anna --reason mended"

    init() throws {
        grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
    }

    @Test("list shows the latest records first, with why and where from")
    func list() {
        #expect(
            grantor("quarantine list").output
                == """
                PLACE  AT                        REASON   KEY  ORIGIN                    BYTES
                1/41   2023-11-14T22:13:20.000Z  no JSON  -    receipts.submitted/5/173  8
                1/40   2023-11-14T22:13:20.000Z  no JSON  u-1  receipts.submitted/5/173  8

                """)
        #expect(grantor("quarantine list --limit 1 --json").output.contains("\"isStub\" : true"))
    }

    @Test("list says whether the topic has more than it shows")
    func limit() {
        #expect(grantor("quarantine list --limit 1").output.hasSuffix("  8\nMore exist; --limit shows more.\n"))
        #expect(grantor("quarantine list --limit 1 --json").output.contains("\"hasMore\" : true"))
        #expect(!grantor("quarantine list --limit 2").output.contains("More exist"))
        #expect(grantor("quarantine list --limit 2 --json").output.contains("\"hasMore\" : false"))
        // The latest records of each of two partitions are read, and the list shows the latest of all.
        var grantor = grantor
        grantor.quarantine.isRepeated = true
        #expect(grantor("quarantine list --limit 2").output.hasSuffix("More exist; --limit shows more.\n"))
        #expect(grantor("quarantine list --limit 4 --json").output.contains("\"hasMore\" : false"))
    }

    @Test("show tells all but the value, which is written alone where it is asked for")
    func show() {
        let output = grantor("quarantine show 1/40").output
        #expect(output.hasPrefix("Record 1/40\n") && output.contains("x-retries    3\n"))
        #expect(!output.contains("{]") && !output.contains("x-quarantine"))
        let json = grantor("quarantine show 1/40 --json").output
        #expect(json.contains("\"name\" : \"x-retries\",\n      \"value\" : \"3\""))
        #expect(!json.contains("{]") && !json.contains("x-quarantine"))
        #expect(!grantor("quarantine list --json").output.contains("headers"))
        let value = grantor("quarantine show 1/40 --value")
        #expect(value.bytes == FixedQuarantine.value && value.output.isEmpty && value.status == .done)
        #expect(grantor("quarantine show 1/41 --value").status == .failed)
        #expect(grantor("quarantine show 1/7").status == .failed)
        #expect(grantor("quarantine show 17").status == .usage)
    }

    @Test("A terminal gets the value as text that cannot steer it")
    func terminal() {
        var grantor = grantor
        grantor.width = 80
        let value = grantor("quarantine show 1/40 --value")
        #expect(value.output == "\u{FFFD}{]\u{FFFD}[31m\n" && value.bytes.isEmpty)
    }

    @Test("resubmit writes the record as it came, without what the worker added, and who did it and why")
    func resubmit() throws {
        #expect(
            grantor("quarantine resubmit 1/40 \(note)").output
                == "Record 1/40 is submitted again, as receipts.submitted/2/9.\n")
        let sent = try #require(grantor.sender.records.first)
        #expect(sent.topic == "receipts.submitted" && sent.key == Array("u-1".utf8))
        #expect(sent.value == FixedQuarantine.value)
        #expect(sent.headers == [RecordHeader("traceparent", "00-ab"), RecordHeader("x-retries", "3")])
        #expect(grantor.ledger.questions == ["resubmit by anna: receipts.quarantined/1/40: mended"])
    }

    @Test("What a producer copied from another record of the topic is shown as its own, and not believed")
    func copied() {
        let other = InputRecord(origin: FixedLedger.origin, key: nil, value: nil, timestamp: FixedLedger.time)
        let headers = QuarantinedEvent.event(of: QuarantineStub(of: other, reason: "another")).headers
        let origin = Origin(topic: "receipts.submitted", partition: 6, offset: 1)
        let event = QuarantinedEvent.event(
            of: InputRecord(origin: origin, key: nil, value: [1, 2], headers: headers, timestamp: nil),
            reason: "no JSON")
        let shown = QuarantinedRecord(
            InputRecord(
                origin: Origin(topic: "receipts.quarantined", partition: 0, offset: 3), key: nil, value: event.value,
                headers: event.headers, timestamp: nil))
        #expect(shown.reason == "no JSON" && shown.origin == "\(origin)")
        #expect(!shown.isStub && shown.size == 2 && shown.own == headers)
    }

    @Test("A stub has nothing to submit, and says where the record is")
    func stub() {
        let result = grantor("quarantine resubmit 1/41 \(note)")
        #expect(result.status == .failed && result.errors.contains("which is at receipts.submitted/5/173"))
        #expect(!result.errors.contains("large"), "it may also be one that an operator passed")
        #expect(grantor.sender.records.isEmpty && grantor.ledger.questions.isEmpty)
    }

    @Test("A record that the topic does not take is told, with what is known of it")
    func refused() {
        grantor.sender.refuse(.timedOut)
        #expect(grantor("quarantine resubmit 1/40 \(note)").errors.contains("it may stand there all the same"))
        grantor.sender.refuse(.notAuthorized)
        #expect(
            grantor("quarantine resubmit 1/40 \(note)").errors
                == "grantor: this user has no right to write into receipts.submitted\n")
    }
}
