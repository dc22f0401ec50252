import CommandParser
import Contract
import Ledger
import Synchronization
import Testing

@testable import Commands

@Suite("Many submissions at once")
struct ManySubmissionsTests {
    private let grantor: SampleRun
    private let note = "--actor anna --reason mended"

    init() throws { grantor = try SampleRun() }

    private var changes: [String] { grantor.ledger.questions.filter { !$0.hasPrefix("submission") } }

    @Test("Without --apply the answer says how many there are and how long they take, and nothing is changed")
    func dryRun() {
        grantor.ledger.hold(45)
        #expect(
            grantor("submissions retry --cause product_not_configured \(note)").output
                == "45 submissions match; nothing was changed. With --apply they are made due, 20 a second, in about 3 s.\n"
        )
        #expect(changes.isEmpty && grantor.pauses.all.isEmpty)
    }

    @Test("With --apply each is changed once, with who did it and why, at the pace that is named")
    func pace() {
        grantor.ledger.hold(45)
        let result = grantor("submissions retry --cause product_not_configured \(note) --apply --per-second 10")
        #expect(result.output == "45 of 45 submissions made due.\n")
        #expect(changes.count == 45 && Set(changes).count == 45)
        #expect(changes.first == "retry com.example.game/h-45 by anna: mended")
        #expect(grantor.pauses.all == [.seconds(1), .seconds(1), .seconds(1), .seconds(1)])
    }

    @Test("All pages are gone through, up to the limit, which is said to be reached")
    func limit() {
        grantor.ledger.hold(2_345)
        let all = grantor("submissions retry --state held \(note) --limit 100000").output
        #expect(all.hasPrefix("2345 submissions match"))
        let some = grantor("submissions retry --state held \(note) --limit 1500").output
        #expect(
            some.hasPrefix("1500 submissions match") && some.hasSuffix(" The limit is reached; there may be more.\n"))
    }

    @Test("An age leaves those whose records are older")
    func age() {
        grantor.ledger.hold(100)
        #expect(grantor("submissions retry --older-than 1m \(note)").output.hasPrefix("41 submissions match"))
        #expect(grantor("submissions retry --older-than 1h \(note)").output == "No submission matches.\n")
        // By the ledger's clock they are younger.
        grantor.ledger.setClockLead(-20_000)
        #expect(grantor("submissions retry --older-than 1m \(note)").output.hasPrefix("21 submissions match"))
    }

    @Test("An endpoint leaves those that are retrying and ask it, of all keys")
    func endpoint() {
        _ = grantor("submissions retry --endpoint server_api/production \(note)")
        let asked = grantor.ledger.questions.filter { $0.hasPrefix("submissions ") }
        #expect(asked.count == 1 && asked[0].contains("SubmissionState.retrying"))
        #expect(asked[0].contains("server_api") || asked[0].contains("App Store Server API (production)"))
    }

    @Test("None is an answer, also of an app that is configured; an app that is not known may be misspelt")
    func none() {
        grantor.ledger.hold(0)
        for options in ["--cause no_answer", "--app com.example.puzzle", "--app com.example.puzzle --apply"] {
            let result = grantor("submissions retry \(options) \(note)")
            #expect(result.output == "No submission matches.\n" && result.status == .done)
        }
        let unknown = grantor("submissions retry --app com.example.pzzle \(note) --apply")
        #expect(unknown.output == "No submission matches.\n" && unknown.status == .failed)
        #expect(
            unknown.errors
                == "grantor: no app \"com.example.pzzle\" is configured or has such submissions\n")
    }

    @Test("One that has its answer meanwhile is left, and counted")
    func left() {
        grantor.ledger.hold(3)
        #expect(
            grantor("submissions abandon --app com.example.game \(note) --apply").output
                == "2 of 3 submissions given up, 1 left as they are.\n")
    }

    @Test("One that is held for another cause by its turn is left: that cause may be mended")
    func heldForAnother() {
        grantor.ledger.hold(2)
        let cause = "--cause product_not_configured"
        #expect(
            grantor("submissions abandon \(cause) \(note) --apply").output
                == "1 of 2 submissions given up, 1 left as they are.\n")
        #expect(changes == ["abandon com.example.game/h-1 by anna: mended"])
    }

    @Test("All are changed in one session, which knows the ledger again, and its loss casts doubt on each of them")
    func lostConnection() throws {
        let openings = Mutex(0)
        var grantor = grantor
        grantor.open = { () throws(LedgerError) in openings.withLock { $0 += 1 } }
        grantor.ledger.hold(45)
        #expect(grantor("submissions retry --state held \(note) --apply").output == "45 of 45 submissions made due.\n")
        #expect(openings.withLock { $0 } == 1)
        grantor.ledger.refuseChanges(after: 30, .disconnected(detail: "gone"))
        let lost = grantor("submissions retry --state held \(note) --apply")
        #expect(lost.status == .failed && lost.output == "30 of 45 submissions made due.\n")
        #expect(
            lost.errors
                == "grantor: the connection to the ledger was lost: each of these may be made due or not, also the first "
                + "ones; call it again: gone\n")
    }

    @Test("Scripts get the numbers")
    func json() {
        grantor.ledger.hold(3)
        let output = grantor("submissions abandon --app com.example.game \(note) --apply --json").output
        for member in ["\"changed\" : 2", "\"found\" : 3", "\"left\" : 1", "\"isApplied\" : true"] {
            #expect(output.contains(member))
        }
    }

    @Test(
        "A command line that does not say which ones it means is refused",
        arguments: [
            "submissions retry", "submissions abandon", "submissions retry held",
            "submissions retry held --app com.example.game --cause no_answer",
            "submissions retry --endpoint server_api/live",
            "submissions retry --endpoint server_api/sandbox --state held",
            "submissions retry held --app com.example.game --endpoint server_api/sandbox",
            "submissions abandon --endpoint server_api/sandbox", "submissions retry --state granted",
            "submissions abandon --older-than soon",
        ])
    func unclear(line: String) {
        #expect(grantor("\(line) \(note) --apply").status == .usage)
        #expect(changes.isEmpty)
    }

    @Test("One that says nothing hears of each option by which many are chosen")
    func options() {
        let few = "grantor: an id is missing, or what many have: --app, --cause, --older-than"
        #expect(grantor("submissions abandon \(note)").errors.hasPrefix(few + "\n"))
        #expect(grantor("submissions retry \(note)").errors.hasPrefix(few + ", --state, --endpoint\n"))
    }
}

@Suite("grantor workers")
struct WorkersCommandTests {
    @Test("list shows who lives, since when, and what each has taken over")
    func list() throws {
        let grantor = try SampleRun()
        #expect(
            grantor("workers list").output
                == """
                WORKER  STATE   VERSION  SEEN        STARTED                   PARTITIONS
                host/1  live    1.0.0    12 s ago    2023-11-14T20:13:20.000Z  1
                host/2  silent  0.9.0    60 min ago  2023-11-14T19:43:20.000Z  0

                """)
        let json = grantor("workers list --json").output
        #expect(json.contains("\"state\" : \"silent\"") && json.contains("\"receipts.submitted/5\""))
    }
}
