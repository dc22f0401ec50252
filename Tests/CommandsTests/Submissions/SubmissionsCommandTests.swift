import CommandParser
import Contract
import Foundation
import Ledger
import Testing

@testable import Commands

@Suite("Submissions as operators see them")
struct SubmissionsCommandTests {
    private let grantor: SampleRun

    init() throws { grantor = try SampleRun() }

    @Test("A list asks for what its options say")
    func query() {
        let result = grantor(
            "submissions list --state failed --cause unknown_product --app com.example.game --user u-1 --before failed:9 --limit 1"
        )
        let query = SubmissionQuery(
            state: .failed, bundleID: "com.example.game", userID: "u-1", cause: "unknown_product", before: 9, limit: 1)
        #expect(grantor.ledger.questions == ["submissions \(query)"])
        #expect(
            result.output == """
                SUBMISSION  STATE   CAUSE      APP               USER  ORDER  TRANSACTION  PRODUCT                   DECIDED                   ATTEMPTS
                s-7         failed  no_answer  com.example.game  u-1   o-1    1000007      com.example.game.gems100  2023-11-14T22:13:20.000Z  3
                More: --before failed:7

                """)
    }

    @Test("What waits says since when it is due, in place of a moment in the past")
    func due() {
        let output = grantor("submissions list --state retrying").output
        #expect(output.contains("  RECEIVED                  NEXT TRY         ATTEMPTS\n"))
        #expect(output.contains("  2023-11-14T22:13:20.000Z  due since 3 min  3\n"))
    }

    @Test("Without a state every state is listed, those that wait first")
    func everyState() {
        let output = grantor("submissions list").output
        let states = output.split(separator: "\n").dropFirst().map { $0.split(separator: " ")[1] }
        #expect(states == ["held", "retrying", "failed", "repeated", "granted"])
    }

    @Test("An order or a transaction narrows every state")
    func order() {
        _ = grantor("submissions list --order o-1 --transaction 0012")
        let queries = SubmissionState.allCases.map {
            "submissions \(SubmissionQuery(state: $0, orderID: "o-1", transactionID: "12", limit: 50))"
        }
        #expect(grantor.ledger.questions == queries)
    }

    @Test("A list as JSON has the same, and where the next page begins")
    func json() {
        let result = grantor("submissions list --state held --limit 1 --json")
        #expect(result.output.contains("\"next\" : \"held:7\"") && result.output.contains("\"submissionId\" : \"s-7\""))
        #expect(!grantor("submissions list --state held --json").output.contains("next"))
    }

    @Test("A place in another state's list is a mistake")
    func otherPlace() {
        #expect(grantor("submissions list --state held --before failed:7").status == .usage)
        #expect(grantor("submissions list --before 7").status == .usage)
    }

    @Test("A list may be empty")
    func emptyList() {
        #expect(grantor("submissions list --state held --user nobody").output == "No submissions.\n")
        #expect(
            grantor("submissions list --state held --user nobody --json").output
                == "{\n  \"submissions\" : [\n\n  ]\n}\n")
    }

    @Test("An empty list of an app that is not configured says so, because its name may be mistyped")
    func unknownApp() {
        let result = grantor("submissions list --state held --user nobody --app com.example.gmae")
        #expect(result.errors == "grantor: no app \"com.example.gmae\" is configured or has such submissions\n")
        #expect(result.status == .failed && result.output == "No submissions.\n")
        #expect(grantor("submissions list --state held --user nobody --app com.example.game").status == .done)
        #expect(grantor("submissions list --state held --user nobody --app gone --before held:9").status == .done)
    }

    @Test("An app that the ledger has never heard of is looked for in no table of decisions")
    func neverHeardOf() {
        grantor.ledger.list([])
        grantor.ledger.decide(1...2_500_000)
        grantor.ledger.forget("com.example.gmae")
        let result = grantor("submissions list --app com.example.gmae")
        #expect(result.status == .failed && result.errors.contains("no app \"com.example.gmae\" is configured"))
        #expect(grantor.ledger.questions.count == 3)
    }

    @Test("A list that is not looked through to its end says so, and how to go on")
    func cutList() {
        grantor.ledger.list([])
        grantor.ledger.decide(1...2_500_000)
        let result = grantor("submissions list --app com.example.gmae")
        #expect(result.status == .done)
        #expect(result.output == "Earlier rows are not looked through yet; go on: --before repeated:1500001\n")
        let json = grantor("submissions list --app com.example.game --state granted --json")
        #expect(json.output.contains("\"next\" : \"granted:1500001\""))
    }

    @Test("Without an apps file the ledger's answer stands alone")
    func withoutApps() {
        var grantor = grantor
        grantor.environment["GRANTOR_APPS_FILE"] = nil
        let unknown = grantor("submissions show gone")
        #expect(unknown.status == .failed && unknown.errors.contains(SubmissionWords.ofUnknown))
        let empty = grantor("submissions list --app com.example.game --state held --user nobody")
        #expect(empty.status == .done && empty.output == "No submissions.\n")
        let many = grantor("submissions retry --app gone --older-than 3650d --actor anna --reason mended")
        #expect(many.status == .done)
    }

    @Test("Rows that only a later version can read are no unknown submission")
    func later() {
        let result = grantor("submissions show later --app com.example.game")
        #expect(result.status == .failed)
        #expect(
            result.errors
                == "grantor: 1 more row was written by a later version, which alone can show it\n")
    }

    @Test("Without an app those are asked that the ledger has it of")
    func everyApp() {
        #expect(grantor("submissions show failed").status == .done)
        #expect(grantor.ledger.questions.last == "submission com.example.game/failed")
    }

    @Test("An app that is not in the file is asked, too")
    func unlistedApp() throws {
        try "apps: []\n".write(toFile: grantor.folder + "/apps.yaml", atomically: true, encoding: .utf8)
        #expect(grantor("submissions show failed").status == .done)
    }

    @Test("Where no list has it the apps of the file are asked, and that of malformed submissions")
    func configuredApps() {
        #expect(grantor("submissions show later").errors.contains("later version"))
        #expect(
            grantor.ledger.questions.suffix(3) == [
                "submission com.example.puzzle/later", "submission com.example.game/later", "submission /later",
            ])
    }

    @Test("A submission that waits is made due, with who did it and why")
    func retry() {
        let options = "--app com.example.game --actor anna --reason mended"
        #expect(
            grantor("submissions retry retrying \(options)").output
                == "Submission retrying is due now. It waits on while no worker lives, or its endpoint is away.\n")
        #expect(
            grantor("submissions retry gone \(options)").errors
                == "grantor: nothing of submission \"gone\" waits\n")
        #expect(grantor.ledger.questions.first == "retry com.example.game/retrying by anna: mended")
        let taken = grantor("submissions retry taken \(options)")
        #expect(taken.status == .failed && taken.output.isEmpty)
        #expect(
            taken.errors
                == "grantor: a worker is at submission \"taken\": nothing was changed; call again if it waits after that\n"
        )
    }

    @Test(
        "A note is one line that somebody can read, because a failed event may publish it",
        arguments: ["   ", "a\nb", "a\tb", "\u{1B}[31m", "\u{202E}txt", String(repeating: "x", count: 501)])
    func notes(reason: String) {
        let command = ["submissions", "abandon", "held", "--app", "com.example.game"]
        let result = grantor.run(command + ["--actor", "anna", "--reason", reason])
        #expect(result.status == .usage)
        #expect(result.errors.contains("--reason must be a line of at most 500 characters"))
        #expect(grantor.run(command + ["--actor", reason, "--reason", "settled"]).status == .usage)
        #expect(grantor.ledger.questions.isEmpty)
    }

    @Test("A held submission is given up with who did it and why, and one that is retrying is not")
    func abandon() {
        let options = "--app com.example.game --actor anna --reason settled"
        #expect(
            grantor("submissions abandon held \(options)").output
                == "Submission held is given up: it has failed. A worker publishes the event that says so.\n")
        #expect(grantor.ledger.questions.last == "abandon com.example.game/held by anna: settled")
        #expect(
            grantor("submissions abandon heldAndGranted \(options)").output
                == "Submission heldAndGranted waits no longer: its user has the purchase. A worker publishes the event that says so.\n"
        )
        let later = grantor("submissions abandon heldForLater \(options)")
        #expect(later.status == .failed)
        #expect(later.errors.contains("stays held, and nothing was changed: a later version"))
        let asked = grantor.ledger.questions.count
        let retrying = grantor("submissions abandon retrying \(options)")
        #expect(retrying.status == .failed && retrying.errors.contains("is retrying, not held"))
        #expect(grantor.ledger.questions.count == asked)
        #expect(
            grantor("submissions abandon gone \(options)").errors == "grantor: nothing of submission \"gone\" waits\n")
    }

    @Test(
        "A change without an answer is told as one that may be done",
        arguments: [
            "submissions retry retrying --app com.example.game", "submissions abandon held --app com.example.game",
        ])
    func lostAnswer(line: String) {
        grantor.ledger.refuseChanges(.disconnected(detail: "gone"))
        let result = grantor("\(line) --actor anna --reason mended")
        #expect(result.status == .failed)
        #expect(
            result.errors
                == "grantor: the ledger has not confirmed it: it may be done or not; look before you call again: gone\n"
        )
    }

    @Test("What is owed is listed with its key, and more is said to exist")
    func outbox() {
        #expect(grantor("outbox list").output == "Nothing is owed.\n")
        grantor.ledger.owe([FixedLedger.owed(.publish), FixedLedger.owed(.call)])
        #expect(
            grantor("outbox list").output == """
                OWED                        KIND             TO                                     SINCE                     NEXT TRY       ATTEMPTS
                granted:production:1000001  granted event    topic granted                          2023-11-14T22:13:20.000Z  due since 0 s  4
                granted:production:1000001  fulfilment call  inventory service of com.example.game  2023-11-14T22:13:20.000Z  due since 0 s  4

                """)
        #expect(grantor("outbox list --limit 1").output.hasSuffix("\nMore exist; --limit shows more.\n"))
        #expect(grantor("outbox list --limit 1 --json").output.contains("\"hasMore\" : true"))
    }

    @Test("Rows of a later version are owed as well, and are counted")
    func laterOutbox() {
        grantor.ledger.owe([], later: 2)
        let result = grantor("outbox list")
        #expect(result.output.isEmpty && result.status == .failed)
        #expect(
            result.errors == "grantor: 2 more rows were written by a later version, which alone can show them\n")
        #expect(grantor("outbox list --json").output.contains("\"laterRows\" : 2"))
        grantor.ledger.owe([FixedLedger.owed(.publish)], later: 1)
        #expect(grantor("outbox list").output.contains("\ngranted:production:1000001  granted event"))
    }

    @Test("A submission that nobody knows is said to be unknown, as JSON too")
    func unknown() {
        #expect(
            grantor("submissions show gone").errors
                == "grantor: no submission \"gone\" in the ledger: it is not read or not verified yet, could not be read, was never submitted, or its answer was pruned or erased (grantor find looks on the topics, too)\n"
        )
        #expect(grantor("submissions show gone --json").output == "{\n  \"submissions\" : [\n\n  ]\n}\n")
    }

    @Test("A submission that waits is told with its attempts and what people did, and without its evidence")
    func retrying() {
        let output = grantor("submissions show retrying --app com.example.game").output
        #expect(
            output == """
                Submission retrying
                  Neither granted nor refused yet. Apple cannot tell. HTTP 502. It is asked again in 15 s, at 2023-11-14T22:13:35.000Z. Tell the player: "We are still asking Apple about this purchase. If you were charged, please restore purchases."

                  app   com.example.game
                  user  u-1

                Retrying
                  user      u-1
                  order     o-1
                  from      receipts.submitted, partition 5, offset 173
                  received  2023-11-14T22:13:20.000Z
                  cause     no_answer
                  detail    HTTP 502.
                  attempts  1
                  due       2023-11-14T22:13:35.000Z
                  next try  in 15 s
                  endpoint  verify_receipt/production/

                Attempts that decided nothing
                  2023-11-14T22:13:20.000Z  no_answer: HTTP 502.

                Operator actions
                  2023-11-14T22:13:20.000Z  retry by anna: Apple is well again

                """)
        #expect(!grantor("submissions show retrying --json").output.contains("canary"))
    }
}
