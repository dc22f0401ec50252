import CommandParser
import Contract
import Ledger
import Testing

@testable import Commands

@Suite("Grants as operators see them")
struct GrantsCommandTests {
    private let grantor: SampleRun

    init() throws { grantor = try SampleRun() }

    @Test("A list asks for what its options say")
    func query() {
        let result = grantor("grants show 1000001 --user -u --app com.example.game --order o-1 --before 9 --limit 1")
        let query = GrantQuery(
            bundleID: "com.example.game", userID: "-u", orderID: "o-1", transactionID: "1000001", before: 9, limit: 1)
        #expect(grantor.ledger.questions == ["grants \(query)"])
        #expect(result.output.hasPrefix("TRANSACTION  APP               USER  PRODUCT                   GIVES     "))
        #expect(result.output.hasSuffix("\nMore: --before 9\n"))
    }

    @Test("A grant as JSON has everything that its event has, and where it came from")
    func json() {
        let output = grantor("grants show 1000001 --json").output
        for member in [
            "\"quantity\" : 2", "\"quantity\" : 200", "\"item\" : \"gems\"", "\"key\" : \"production:t:1000001\"",
            "\"offset\" : 173", "\"orderId\" : \"o-1\"", "\"verifiedBy\" : \"signedTransaction\"",
        ] {
            #expect(output.contains(member))
        }
    }

    @Test("A list of an app that is not looked through to its end says so, and how to go on")
    func cutList() {
        grantor.ledger.decide(1...2_500_000)
        let first = grantor("grants show --app com.example.puzzle")
        #expect(first.status == .done)
        #expect(first.output == "Earlier rows are not looked through yet; go on: --before 1500001\n")
        #expect(grantor.ledger.questions.count == 100)
        let last = grantor("grants show --app com.example.puzzle --before 500001")
        #expect(last.status == .done && last.output == "No grants.\n")
        grantor.ledger.forget("com.example.puzzle")
        #expect(grantor("grants show --app com.example.puzzle").errors.contains("no grants found"))
    }

    @Test("Without a hit the end is the same as text and as JSON")
    func nothing() {
        #expect(
            grantor("grants show --user nobody").errors
                == "grantor: no grants found; grantor submissions list shows what has none\n"
        )
        let json = grantor("grants show --user nobody --json")
        #expect(json.status == .failed && json.output == "{\n  \"grants\" : [\n\n  ]\n}\n")
    }
}
