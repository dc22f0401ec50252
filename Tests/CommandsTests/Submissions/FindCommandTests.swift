import CommandParser
import Contract
import Ledger
import Testing

@testable import Commands

@Suite("One look for any id")
struct FindCommandTests {
    private let grantor: SampleRun

    init() throws { grantor = try SampleRun() }

    @Test("Each hit is a block: what it is, what came of it, and its ids, with what the word is to it")
    func blocks() {
        grantor.ledger.complete(to: 174)
        let result = grantor("find u-1")
        #expect(result.output.hasPrefix("u-1  held: no_answer\n  Neither granted nor refused: it waits for our side. "))
        #expect(
            result.output.contains(
                """

                u-1  granted
                  The purchase is the user's. Nothing is owed of it any more: if the player has nothing, look at the game's service that reads the event. Submitting again gives nothing.
                  found as submission and user, user u-1, order o-1, app com.example.game, product com.example.game.gems100, transaction 1000007, environment production, granted 2023-11-14T22:13:20.000Z

                """))
        #expect(result.status == .done && result.errors.isEmpty)
    }

    @Test("An event may be on its way as long as workers are not through with the record, in show as well")
    func unpassed() {
        let words = "Its event may be on its way: workers are not through with its record yet. Ask again in a minute."
        let said = #"The purchase is the user's. \#(words) Tell the player: "\#(SubmissionWords.whileItWaits)""#
        for line in ["find u-1", "submissions show granted --app com.example.game"] {
            grantor.ledger.complete(to: 173)
            #expect(grantor(line).output.contains(said))
            #expect(grantor(line + " --json").output.contains("\"isUnpassed\" : true"))
            grantor.ledger.complete(to: 174)
            #expect(!grantor(line).output.contains(words))
            #expect(grantor(line + " --json").output.contains("\"isUnpassed\" : false"))
        }
    }

    @Test("An old outcome whose record no checkpoint has passed is on no way any more, in show as well")
    func neverPassed() {
        var grantor = grantor
        grantor.ledger.complete(to: 173)
        for line in ["find u-1", "submissions show granted --app com.example.game"] {
            grantor.now = FixedLedger.time.advanced(by: .seconds(3_599))
            #expect(grantor(line).output.contains("Its event may be on its way"))
            grantor.now = FixedLedger.time.advanced(by: .seconds(3_600))
            #expect(grantor(line).output.contains("No checkpoint has passed its record for an hour"))
            #expect(!grantor(line).output.contains("Its event may be on its way"))
        }
    }

    @Test("More hits than the limit are said to exist")
    func more() {
        let result = grantor("find u-1 --limit 2")
        #expect(result.output.contains("\nMore exist than these 2; --limit shows more, a list goes through all.\n"))
        #expect(grantor("find u-1 --limit 2 --json").output.contains("\"hasMore\" : true"))
        #expect(grantor("find u-1 --json").output.contains("\"hasMore\" : false"))
    }

    @Test("What is owed of a hit stands beside it, and nothing of others")
    func owed() {
        let key = OutboxKey.granted(FixedLedger.grant("1000007").reference, repeatOf: nil)
        grantor.ledger.owe([
            OutboxRow(
                key: key, step: .call, target: .service("com.example.game"), dueAt: FixedLedger.time,
                owedSince: FixedLedger.time, isLeased: false, attempts: 4)
        ])
        let lines = grantor("find u-1").output.split(separator: "\n")
        let owing = lines.count { $0.contains("The app's inventory service has not been told of it yet.") }
        #expect(owing > 0 && owing == lines.count { $0.hasSuffix("  granted, not told yet") })
        #expect(grantor("find u-1 --json").output.contains("\"owes\" : \"fulfilment call\""))
        grantor.ledger.owe([])
        #expect(!grantor("find u-1").output.contains("inventory service"))
    }

    @Test("A purchase of the sandbox is told as one, and a list has a column for these alone")
    func sandbox() {
        let row = "submissions list --state granted --order"
        #expect(grantor("\(row) o-test").output.contains("ENVIRONMENT"))
        #expect(grantor("\(row) o-test --json").output.contains("\"environment\" : \"sandbox\""))
        #expect(!grantor("\(row) o-1").output.contains("ENVIRONMENT"))
        #expect(grantor("find u-1 --json").output.contains("\"environment\" : \"production\""))
        let claiming = SubmissionRow(
            sequence: 1, state: .held, claimant: FixedLedger.claimant("s-1"), origin: FixedLedger.origin,
            transactionID: nil, environment: .sandbox, productID: nil, attempts: 1)
        let words = claiming.words(owed: [], Checkpoints([]), now: FixedLedger.time)
        #expect(!words.isTest, "a claim proves nothing")
    }

    @Test("A row that waits is promised only where Apple has signed it")
    func signed() {
        for isSigned in [false, true] {
            let row = SubmissionRow(
                sequence: 1, state: .retrying, claimant: FixedLedger.claimant("s-1"), origin: FixedLedger.origin,
                cause: "no_answer", transactionID: nil, productID: nil, attempts: 1, isSigned: isSigned)
            let words = row.words(owed: [], Checkpoints([]), now: FixedLedger.time)
            let said = isSigned ? SubmissionWords.whileItWaits : SubmissionWords.whileInDoubt
            #expect(words.sentences.last?.contains(said) == true)
        }
    }

    @Test("A repeat beside the grant that answers it says whether its order is paid, and another one how to see it")
    func repeatOrder() {
        let grant = SubmissionRow(GrantRow(sequence: 1, grant: FixedLedger.imported))
        let repeated = SubmissionRow(
            sequence: 1, state: .repeated, claimant: FixedLedger.claimant("s-1", order: "other"),
            origin: FixedLedger.origin, decidedAt: FixedLedger.time, transactionID: "1000009", environment: .production,
            productID: nil, attempts: 0)
        func text(_ rows: [SubmissionRow]) -> String {
            Search("u-1", limit: 9).result([rows]).text(Checkpoints([]), now: FixedLedger.time, width: nil)
        }
        let unpaid = "Order other is paid by a grant of its own alone: grantor find other shows whether one is there."
        #expect(text([repeated, grant]).contains(unpaid))
        #expect(text([repeated, grant]).contains("Another system granted it, and its event gives no items: "))
        #expect(text([repeated]).contains(unpaid))
    }

    @Test("White space around a transaction's id does not count")
    func trimmed() {
        let found = grantor.run(["find", " 1000007\n", "--json"])
        #expect(found.output.contains("\"foundAs\" : [\n        \"transaction\"\n      ]"))
        _ = grantor.run(["submissions", "list", "--state", "held", "--transaction", " 1000007 "])
        let asked = grantor.ledger.questions.last
        _ = grantor("submissions list --state held --transaction 1000007")
        #expect(asked == grantor.ledger.questions.last)
    }

    @Test("White space in an id stays as it is")
    func whole() {
        #expect(
            TextParagraph.text(facts: ["user a  b c", "order o", "app d"], 20) == "  user a  b c,\n  order o, app d\n")
        #expect(TextParagraph.text(facts: ["user a  b", "order o"], nil) == "  user a  b, order o\n")
    }

    @Test("A hit as JSON is the row of a list, with what the word is to it")
    func json() {
        let output = grantor("find 1000007 --json").output
        #expect(output.contains("\"foundAs\" : [\n        \"transaction\"\n      ]"))
        #expect(output.contains("\"submissionId\" : \"s-7\""))
    }

    @Test("A row as JSON has what its sentences say: whether it was imported, and what was passed over")
    func rowMembers() {
        let passedOver = PassedOver([PassedOver.Entry("99", "com.example.new", .productNotConfigured)])
        func json(_ grant: Grant) -> String { SubmissionRow(GrantRow(sequence: 1, grant: grant)).json.text }
        let granted = json(FixedLedger.grant(passingOver: passedOver))
        #expect(granted.contains("\"isImported\" : false") && granted.contains("\"transactionId\" : \"99\""))
        #expect(json(FixedLedger.imported).contains("\"isImported\" : true"))
    }

    @Test("A word that nothing has ends with 1, and in one line")
    func nothing() {
        let long = String(repeating: "x", count: Search.mostBytes + 1)
        for line in ["find \(long)", "find \(long) --json"] {
            let result = grantor(line)
            #expect(
                result.status == .failed && result.errors.hasPrefix("grantor: nothing in the ledger has the id \"xx"))
        }
    }
}

@Suite("Moments of the next try")
struct NextTryTests {
    private func next(_ seconds: Int, isLeased: Bool = false) -> NextTry {
        NextTry(
            dueAt: FixedLedger.time.advanced(by: .seconds(seconds)), isLeased: isLeased, now: FixedLedger.time)
    }

    @Test(
        "are told from now on, in one unit",
        arguments: [
            (15, "in 15 s"), (119, "in 119 s"), (120, "in 2 min"), (7_199, "in 119 min"), (7_200, "in 2 h"),
            (172_800, "in 2 days"), (0, "due since 0 s"), (-181, "due since 3 min"),
        ])
    func short(seconds: Int, words: String) { #expect(next(seconds).short == words) }

    @Test("A row that a worker has is tried now, until its lease ends")
    func leased() {
        #expect(next(60, isLeased: true).short == "now" && next(60, isLeased: true).words == "now")
        #expect(next(-60, isLeased: true).short == "due since 60 s")
        #expect(next(-60, isLeased: true).words == "soon (due since 60 s)")
    }

    @Test("A sentence has the moment, unless it is over")
    func words() {
        #expect(next(15).words == "in 15 s, at 2023-11-14T22:13:35.000Z")
        #expect(next(-15).words == "soon (due since 15 s)")
    }
}
