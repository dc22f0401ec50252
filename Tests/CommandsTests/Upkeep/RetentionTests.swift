import CommandParser
import Contract
import Foundation
import Ledger
import Testing

@testable import Commands
@testable import LedgerSQLite

@Suite("grantor prune")
struct PruneCommandTests {
    private let grantor: UpkeepRun

    /// Thirty failures, a day apart, the last one now.
    init() throws {
        grantor = try UpkeepRun()
        for day in (0..<30).reversed() {
            let id = SubmissionID("f\(day)")
            try grantor.write([
                grantor.decision(id, offset: Int64(day), after: .seconds(-86_400 * day), UpkeepRun.failure)
            ])
        }
    }

    private var left: Int { get throws { try grantor.ledger.submissions(SubmissionQuery(state: .failed)).count } }

    @Test("Without --apply it counts; with it old answers go, in small portions at a pace")
    func prunes() throws {
        let trial = grantor("prune --older-than 9d --per-second 10")
        #expect(
            trial.output
                == "20 answers from before 2026-11-20T12:00:00.000Z would be deleted, in 2 s at 10 a second; --apply does "
                + "it.\n")
        #expect(try left == 30)
        let done = grantor("prune --older-than 9d --per-second 10 --apply --actor kim --reason yearly")
        #expect(done.output == "20 answers from before 2026-11-20T12:00:00.000Z deleted.\n")
        #expect(try left == 10)
        #expect(grantor.paused == .milliseconds(1_900))
        let action = try #require(try grantor.ledger.actions(on: nil).first)
        #expect(action.kind == .prune)
        #expect(action.note.reason == "answers before 2026-11-20T12:00:00.000Z: yearly")
        #expect(grantor("prune --older-than 9d").output.hasPrefix("0 answers"))
    }

    @Test("A failure amid the deletion comes behind how many have gone; before the first one it stands alone")
    func failsMidway() throws {
        try grantor.fail(at: "DELETE ON answers", when: "OLD.submission_id = 'f14'")
        let line = "prune --older-than 9d --per-second 10 --apply --actor kim --reason yearly"
        grantor.isTerminal = true
        let stopped = grantor(line)
        #expect(stopped.status == .configuration)
        #expect(
            stopped.output
                == "15 answers from before 2026-11-20T12:00:00.000Z deleted, and the rest is not; call it again.\n")
        #expect(stopped.errors.contains("15 answers deleted"))
        #expect(stopped.errors.contains("\r\u{1B}[Kgrantor: ") && stopped.errors.contains("the disk is gone"))
        #expect(try left == 15)
        let nothing = grantor(line)
        #expect(nothing.status == .configuration && nothing.output.isEmpty)
        try grantor.mend()
        try grantor.fail(at: "DELETE ON answers", when: "OLD.submission_id = 'f12'")
        let json = grantor(line + " --json").output
        #expect(json.contains("\"answers\" : 2") && json.contains("\"isComplete\" : false"))
        try grantor.mend()
        let rest = grantor(line + " --json").output
        #expect(rest.contains("\"answers\" : 3") && !rest.contains("isComplete"))
    }

    @Test(
        "An answer's age counts by the host's clock or the ledger's, whichever is behind",
        arguments: [(-3_600_000, "2023-11-05T21:13:20.000Z"), (3_600_000, "2023-11-05T22:13:20.000Z")])
    func clocks(lead: Int64, before: String) throws {
        let run = try SampleRun()
        run.ledger.setClockLead(lead)
        #expect(run("prune --older-than 9d --json").output.contains("\"before\" : \"\(before)\""))
    }

    @Test("No answer goes that records under way may ask for", arguments: ["0d", "23h", "-1d", "forever"])
    func tooYoung(age: String) {
        #expect(grantor("prune --older-than \(age)").status == .usage)
    }
}

@Suite("grantor erase")
struct EraseCommandTests {
    private let grantor: UpkeepRun
    private let key: String

    init() throws {
        grantor = try UpkeepRun()
        key = try grantor.write(file: "key", String(repeating: "k", count: 40) + "\n")
        for number in 1...600 {
            try grantor.write([
                grantor.decision(
                    SubmissionID("s-canary-\(number)"), user: "user-canary", offset: Int64(number),
                    grantor.grant(TransactionID("\(number)")))
            ])
        }
        try grantor.write([
            grantor.decision("f-canary", user: "user-canary", offset: 601, UpkeepRun.failure),
            grantor.decision("other", user: "player-2", offset: 602, grantor.grant("900")),
        ])
        try grantor.pass(to: 603)
    }

    private static let apply = "--apply --actor kim --reason asked"

    @Test("All rows of a user get pseudonyms, however many there are, and no byte of the ids stays in the file")
    func erases() throws {
        let trial = grantor("erase --user user-canary --key-file \(key)")
        #expect(
            trial.output.hasPrefix(
                "500 grants, 1 answer and 0 operators' actions, and more, would be erased, as erased:"))
        let done = grantor("erase --user user-canary --key-file \(key) \(Self.apply)")
        #expect(done.output.hasPrefix("600 grants, 1 answer and 0 operators' actions erased, as erased:"))
        #expect(try grantor.ledger.grants(GrantQuery(userID: "user-canary")).isEmpty)
        #expect(try grantor.ledger.grants(GrantQuery(userID: "player-2")).count == 1)
        // A checkpoint as the last worker's end makes it.
        #expect(grantor.ledger.database.checkpoint())
        let bytes = try Data(contentsOf: URL(filePath: grantor.path))
        #expect(bytes.range(of: Data("canary".utf8)) == nil)
        #expect(bytes.range(of: Data("player-2".utf8)) != nil)
    }

    @Test("A ledger that fails midway is told behind what is erased, and that the command is to be called again")
    func failsMidway() throws {
        try grantor.fail(
            at: "UPDATE ON grants", when: "(SELECT count(*) FROM grants WHERE user_id = 'user-canary') <= 100")
        let line = "erase --user user-canary --key-file \(key) \(Self.apply)"
        let stopped = grantor(line)
        #expect(stopped.status == .configuration)
        #expect(stopped.output.hasPrefix("500 grants, 1 answer and 0 operators' actions erased, as erased:"))
        #expect(stopped.errors.hasPrefix("grantor: at least a part is erased; call it again: "))
        #expect(stopped.errors.contains("the disk is gone"))
        let nothing = grantor(line + " --json")
        #expect(nothing.status == .configuration && nothing.output.isEmpty && !nothing.errors.contains("a part"))
        try grantor.mend()
        let rest = grantor(line)
        #expect(rest.status == .done && rest.output.hasPrefix("100 grants, 0 answers"))
        #expect(try grantor.ledger.grants(GrantQuery(userID: "user-canary")).isEmpty)
    }

    @Test("Afterwards a redelivery is refused, and a new claim, too")
    func refused() throws {
        _ = grantor("erase --user user-canary --key-file \(key) \(Self.apply)")
        for (id, offset) in [("s-canary-1", 1), ("s-new", 700)] as [(SubmissionID, Int64)] {
            let events = try grantor.write([
                grantor.decision(id, user: "user-canary", offset: offset, grantor.grant("1"))
            ])
            #expect(events.map(\.topic) == [.failed])
        }
        #expect(try grantor.ledger.grants(GrantQuery(limit: 1_000)).count == 601)
    }

    @Test("The id may not stay in the note, and the key must be long enough")
    func guarded() throws {
        let named = grantor("erase --user user-canary --key-file \(key) --apply --actor kim --reason user-canary")
        #expect(named.status == .usage)
        let short = try grantor.write(file: "short", "short\n")
        #expect(grantor("erase --user user-canary --key-file \(short)").status == .failed)
        #expect(grantor("erase --user user-canary --key-file /nowhere").status == .failed)
        #expect(try grantor.ledger.grants(GrantQuery(userID: "user-canary", limit: 1_000)).count == 600)
    }

    @Test("A user of whom nothing is there ends with 1: the id may be misspelt")
    func nobody() throws {
        let result = grantor("erase --user nobody --key-file \(key) \(Self.apply)")
        #expect(result.status == .failed)
        #expect(result.errors == "grantor: the ledger has nothing of this user, or nothing any more\n")
    }

    @Test("Grants that only a later version can read keep the ids: they are counted, and the call ends with 1")
    func later() throws {
        try grantor.ledger.database.run("UPDATE grants SET format = 99 WHERE transaction_id IN ('7', '8')")
        let done = grantor("erase --user user-canary --key-file \(key) \(Self.apply)")
        #expect(done.output.hasPrefix("598 grants, 1 answer and 0 operators' actions erased, as erased:"))
        #expect(done.status == .failed)
        #expect(
            done.errors
                == "grantor: the user is not erased: 2 grants were written by a later version, which alone can erase "
                + "them\n")
        let again = grantor("erase --user user-canary --app com.example.game --key-file \(key) --json")
        #expect(again.status == .failed && again.output.contains("\"laterRows\" : 2"))
        let elsewhere = grantor("erase --user user-canary --app com.example.other --key-file \(key)")
        #expect(elsewhere.errors.contains("the ledger has nothing of this user"))
    }

    @Test("Grants that come while a user is erased are erased as well, and counted for no later version")
    func meanwhile() throws {
        let run = try SampleRun()
        let file = run.folder + "/key"
        try String(repeating: "k", count: 40).write(toFile: file, atomically: true, encoding: .utf8)
        func done(_ grants: Int, later: Int) -> ErasureResult {
            .done(ErasureResult.Rows(grants: grants, answers: 0, actions: 0, isComplete: true, later: later))
        }
        run.ledger.answer(erasures: [done(2, later: 0), done(1, later: 0), done(1, later: 0)])
        let erased = run("erase --user u --key-file \(file) \(Self.apply)")
        #expect(erased.status == .done && erased.output.hasPrefix("3 grants, 0 answers"))
        #expect(run.ledger.questions == ["erase", "erase as a trial", "erase", "erase as a trial"])
        run.ledger.answer(erasures: [done(2, later: 2), done(1, later: 1), done(1, later: 1), done(0, later: 1)])
        let later = run("erase --user u --key-file \(file) \(Self.apply)")
        #expect(later.status == .failed && later.output.hasPrefix("3 grants, 0 answers"))
        #expect(later.errors.contains("1 grant was written by a later version"))
        #expect(run.ledger.questions.suffix(4) == ["erase", "erase as a trial", "erase", "erase as a trial"])
        run.ledger.answer(erasures: [done(2, later: 1), .inTheWay(waiting: 0, owed: 1, unpassed: 0)])
        let owed = run("erase --user u --key-file \(file) \(Self.apply)")
        #expect(owed.errors.contains("at least a part is erased; call it again: 1 event is owed"))
        #expect(owed.output.hasPrefix("2 grants, 0 answers") && owed.status == .failed)
        run.ledger.answer(erasures: [done(2, later: 1), .inTheWay(waiting: 0, owed: 1, unpassed: 0)])
        #expect(run("erase --user u --key-file \(file) \(Self.apply) --json").output.contains("\"isComplete\" : false"))
    }

    @Test("Nobody is erased before the user's records are passed, unless the call says that they never are")
    func unpassed() throws {
        try grantor.pass(to: 600)
        let result = grantor("erase --user user-canary --key-file \(key) \(Self.apply)")
        #expect(result.status == .failed)
        #expect(
            result.errors
                == "grantor: nothing was changed: 2 grants and answers are of records that no worker has passed: their "
                + "events may be untold. Run a worker and call it again; where their topic was made anew, --unpassed "
                + "erases them all the same\n")
        let done = grantor("erase --user user-canary --key-file \(key) --unpassed \(Self.apply)")
        #expect(done.status == .done && done.output.hasPrefix("600 grants, 1 answer and"))
    }

    @Test("Nobody is erased whose submission waits")
    func waits() throws {
        let entry = RetryEntry(
            cause: .held(.appNotConfigured), detail: "No such app.", delay: 0, history: AttemptHistory(), doubt: nil,
            isSigned: false, purchases: [])
        try grantor.write([grantor.decision("w", user: "user-canary", offset: 800, .wait(entry))])
        let result = grantor("erase --user user-canary --key-file \(key) \(Self.apply)")
        #expect(result.status == .failed)
        #expect(
            result.errors
                == "grantor: nothing was changed: 1 submission waits: grantor submissions list shows it, and a held one "
                + "may be given up\n")
    }
}
