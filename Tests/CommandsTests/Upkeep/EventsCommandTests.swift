import CommandParser
import Contract
import Kafka
import Ledger
import LedgerSQLite
import Scheduling
import Testing

@testable import Commands

@Suite("grantor events republish")
struct EventsCommandTests {
    private let grantor: UpkeepRun
    private let told: [KafkaProducerRecord]

    /// Twenty-five grants of two users, a second apart, and a failure.
    init() throws {
        grantor = try UpkeepRun()
        var events: [Event] = []
        for number in 1...25 {
            let decision = grantor.decision(
                SubmissionID("s\(number)"), user: UserID("u\(number % 2)"), offset: Int64(number),
                after: .seconds(number), grantor.grant(TransactionID("\(number)")))
            events += try grantor.write([decision])
        }
        events += try grantor.write([grantor.decision("f1", offset: 26, UpkeepRun.failure)])
        told = events.map {
            KafkaProducerRecord(topic: $0.topic.defaultName, key: $0.key, value: $0.value, headers: $0.headers)
        }
    }

    private static let apply = "--apply --actor kim --reason lost"

    @Test("Without --apply it counts, says how long it takes, and publishes nothing")
    func trial() throws {
        let result = grantor("events republish --app com.example.game")
        #expect(result.status == .done)
        #expect(
            result.output
                == "25 granted and 1 failed event would be published, in 0 s at 500 a second; --apply does it.\n")
        #expect(grantor.sender.records.isEmpty)
        #expect(try grantor.ledger.actions(on: nil).isEmpty)
    }

    @Test("A ledger of another group, cluster or set of topics is told on no topic of these settings")
    func foreign() throws {
        _ = try grantor.ledger.bind(to: ConsumerGroup(name: "trial", cluster: nil) { "trial.\($0.defaultName)" })
        let result = grantor("events republish --app com.example.game \(Self.apply)")
        #expect(result.status == .configuration)
        #expect(result.errors.contains("belongs to the group trial with trial.receipts.submitted"))
        #expect(grantor.sender.records.isEmpty)
        #expect(try grantor.ledger.actions(on: nil).isEmpty)
    }

    @Test("An id that the ledger does not know ends with 1, and the note of one has none of the ids")
    func ids() throws {
        #expect(grantor("events republish --submission nobody").status == .failed)
        #expect(grantor("events republish --submission s3 \(Self.apply)").status == .done)
        let action = try #require(try grantor.ledger.actions(on: nil).first)
        #expect(action.note.reason == "events granted and failed of one submission: lost")
    }

    @Test("A user whose purchases another system granted is told as one who has no events")
    func imported() throws {
        _ = try grantor.ledger.add(imported: [FixedLedger.imported], isTrial: false)
        for id in ["--user u-1", "--submission import:1000009"] {
            let result = grantor("events republish \(id)")
            #expect(result.status == .failed)
            #expect(result.errors.contains("another system granted what the ledger has of this user or submission"))
        }
        let unknown = grantor("events republish --user u-2")
        #expect(unknown.errors.contains("the ledger has no decided row of this user or submission"))
    }

    @Test("With --apply the same bytes go out, and who did it stands in the ledger")
    func applied() throws {
        let result = grantor("events republish --app com.example.game \(Self.apply)")
        #expect(result.output == "25 granted and 1 failed event published.\n")
        #expect(grantor.sender.records == told)
        let action = try #require(try grantor.ledger.actions(on: nil).first)
        #expect(action.kind == .republish && action.note.actor == "kim")
        #expect(action.note.reason == "events granted and failed of com.example.game: lost")
    }

    @Test(
        "A scope narrows it",
        arguments: [
            ("--submission s3", [3]), ("--user u1 --from 2026-11-29T12:00:20Z", [21, 23, 25]),
            ("--from 2026-11-29T12:00:03Z --to 2026-11-29T12:00:05Z", [3, 4]), ("--state failed --user player-1", [26]),
        ])
    func scopes(options: String, numbers: [Int]) throws {
        _ = grantor("events republish \(options) \(Self.apply)")
        #expect(grantor.sender.records == numbers.map { told[$0 - 1] })
    }

    @Test("No second has more than the asked number of events")
    func paced() {
        _ = grantor("events republish --app com.example.game --per-second 10 \(Self.apply)")
        #expect(grantor.sender.records.count == 26)
        // The last of 26 events begins behind 25 others.
        #expect(grantor.paused == .milliseconds(2_500))
    }

    @Test("A call that was stopped names the place, and the next one goes on there")
    func resumed() throws {
        grantor.sender.refuse(after: 2)
        let stopped = grantor("events republish --app com.example.game --per-second 100 \(Self.apply)")
        #expect(stopped.status == .failed)
        #expect(
            stopped.errors
                == "grantor: Kafka did not take an event: no acknowledgement in time; 20 events were published: go on "
                + "with --after granted:20\n")
        grantor.sender.refuse(after: .max)
        let rest = grantor("events republish --app com.example.game --after granted:20 \(Self.apply)")
        #expect(rest.output == "5 granted and 1 failed event published.\n")
        #expect(grantor.sender.records == told)
    }

    @Test(
        "It needs a scope, and with --apply a person and a reason",
        arguments: [
            "", "--state granted", "--app a --apply", "--app a --apply --actor kim", "--app a --state held",
            "--app a --after held:1", "--app a --state failed --after granted:1", "--app a --from yesterday",
            "--app a --per-second 0",
        ])
    func usage(options: String) {
        #expect(grantor("events republish \(options)").status == .usage)
    }
}

@Suite("Progress")
struct ProgressTests {
    @Test("says how much is done and how long the rest takes")
    func line() {
        let line = Progress.line(0.25, "12 events", elapsed: .seconds(60), hasBar: true)
        #expect(line == "[######..................] 25 %, 12 events, 3 min left")
        #expect(Progress.line(1.5, "done", elapsed: .seconds(9), hasBar: false) == "100 %, done, 0 s left")
        #expect(Progress.line(nil, "12 events", elapsed: .seconds(60), hasBar: true) == "12 events")
    }
}
