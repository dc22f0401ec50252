import CommandParser
import Contract
import Foundation
import Ledger
import MemberTesting
import Testing

@testable import Commands
@testable import LedgerSQLite

@Suite("grantor grants import")
struct ImportCommandTests {
    private let grantor: UpkeepRun

    init() throws { grantor = try UpkeepRun() }

    private static let apply = "--apply --actor kim --reason adoption"

    private func line(_ transaction: Int, user: String = "player-1", _ more: String = "") -> String {
        """
        {"bundleId":"com.example.game","environment":"production","transactionId":"\(transaction)","userId":"\(user)",\
        "productId":"com.example.gems","type":"consumable","purchasedAt":"2024-05-01T10:00:00Z",\
        "grantedAt":1714557605000\(more)}
        """
    }

    private func file(_ lines: String...) throws -> String {
        try grantor.write(file: "former.jsonl", lines.joined(separator: "\n") + "\n")
    }

    @Test("A trial says what is new, and writes nothing")
    func trial() throws {
        let path = try file(line(1), "", line(2))
        let result = grantor("grants import \(path)")
        #expect(result.status == .done)
        #expect(
            result.output
                == "2 lines: 0 faulty, 2 new, 0 there already, 0 of others; --apply imports them\n")
        #expect(try grantor.ledger.grants(GrantQuery()).isEmpty)
    }

    @Test("An imported row has what the line says, and where it stands")
    func values() throws {
        let path = try file(
            "", line(1, #","orderId":77,"quantity":3,"ownership":"familyShared","originalTransactionId":"9""#))
        #expect(grantor("grants import \(path) \(Self.apply)").status == .done)
        let grant = try #require(try grantor.ledger.grants(GrantQuery()).first?.grant)
        #expect(grant.origin == Origin(topic: "import:former.jsonl", partition: 0, offset: 2))
        #expect(grant.key.text == "production:t:1" && grant.originalTransactionID == "9")
        #expect(grant.submissionID == "import:production:1" && grant.userID == "player-1" && grant.orderID == "77")
        #expect(grant.quantity == 3 && grant.ownership == .familyShared && grant.items.isEmpty)
        #expect(grant.purchasedAt.rfc3339 == "2024-05-01T10:00:00.000Z" && grant.grantedAt.rfc3339.hasSuffix("05.000Z"))
        #expect(grant.verifiedBy == "import" && grant.attempts == 0)
        let action = try #require(try grantor.ledger.actions(on: nil).first)
        #expect(action.kind == .importGrants && action.note.reason == "1 line of former.jsonl: adoption")
    }

    @Test("Begun again it counts what is there, and names what another user has")
    func again() throws {
        let path = try file((1...2_500).map { line($0) }.joined(separator: "\n"))
        #expect(
            grantor("grants import \(path) \(Self.apply)").output
                == "2500 lines: 2500 imported, 0 there already, 0 of others\n")
        let rest = grantor("grants import \(path) --from-line 2500 \(Self.apply)")
        #expect(rest.output == "1 line: 0 imported, 1 there already, 0 of others\n")
        let more = try file(line(1), line(2, user: "thief"), line(3_000))
        let again = grantor("grants import \(more) \(Self.apply)")
        #expect(again.status == .failed)
        #expect(
            again.output
                == """
                line 2: the purchase is another user's, or another app's, in the ledger
                3 lines: 1 imported, 1 there already, 1 of others

                """)
        #expect(again.errors == "grantor: 1 purchase stayed as the ledger has them\n")
    }

    @Test("A ledger that fails midway is told behind what is imported, with the line to go on from")
    func failsMidway() throws {
        let path = try file((1...4_100).map { line($0) }.joined(separator: "\n"))
        try grantor.fail(at: "INSERT ON grants", when: "NEW.transaction_id = '4100'")
        grantor.isTerminal = true
        let stopped = grantor("grants import \(path) \(Self.apply)")
        #expect(stopped.status == .configuration)
        #expect(
            stopped.output
                == "4100 lines: 4000 imported, 0 there already, 0 of others; the rest is not: go on with --from-line "
                + "4001\n")
        #expect(
            stopped.errors.contains("\r\u{1B}[Kgrantor: ") && stopped.errors.contains("the disk is gone"),
            "no bar is left before the failure")
        let json = grantor("grants import \(path) \(Self.apply) --json")
        #expect(json.output.contains("\"nextLine\" : 4001") && json.output.contains("\"present\" : 4000"))
        let nothing = grantor("grants import \(path) --from-line 4001 \(Self.apply)")
        #expect(nothing.status == .configuration && nothing.output.isEmpty)
        try grantor.mend()
        let rest = grantor("grants import \(path) --from-line 4001 \(Self.apply)")
        #expect(rest.status == .done && rest.output == "100 lines: 100 imported, 0 there already, 0 of others\n")
    }

    @Test("An import that lost its connection names no line to go on from: a standby may lack those before it")
    func lostConnection() throws {
        let run = try SampleRun()
        let path = run.folder + "/former.jsonl"
        let lines = (1...4_100).map { line($0).replacing("2024-", with: "2022-").replacing("17145", with: "16145") }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let advice =
            "grantor: the connection to the ledger was lost, and lines that were imported may be lost with it: import "
            + "the whole file again, which leaves those that are there: gone\n"
        run.ledger.refuseImports(after: 1, .disconnected(detail: "gone"))
        let lost = run("grants import \(path) \(Self.apply)")
        #expect(lost.status == .failed && lost.errors == advice)
        #expect(lost.output == "4100 lines: 4000 imported, 0 there already, 0 of others; the rest is not\n")
        run.ledger.refuseImports(after: 0, .disconnected(detail: "gone"))
        let json = run("grants import \(path) --from-line 4001 \(Self.apply) --json")
        #expect(json.errors == advice && !json.output.contains("nextLine"))
        #expect(json.output.contains("\"isComplete\" : false"))
        // The session stands, and the ledger is the same.
        run.ledger.refuseImports(after: 1, .unavailable(detail: "slow"))
        #expect(run("grants import \(path) \(Self.apply)").output.contains("go on with --from-line 4001"))
    }

    @Test("A trial judges each line by the lines before it, as the import does, however far apart they are")
    func twice() throws {
        let period = #""type":"nonConsumable","originalTransactionId":"1500""#
        let lines =
            (1...1_200).map { line($0) } + [
                line(7), line(8, user: "thief"), line(7).replacing("game", with: "puzzle"),
                line(1_300).replacing(#""type":"consumable""#, with: period),
                // A restore of the same purchase, to another user and to the same one.
                line(1_301, user: "thief").replacing(#""type":"consumable""#, with: period),
                line(1_302).replacing(#""type":"consumable""#, with: period),
                // Its line above is not imported, so this one is, and gives the purchase to the same user.
                line(1_301, user: "thief"),
                line(1_303, user: "thief").replacing(#""type":"consumable""#, with: period),
            ]
        let path = try file(lines.joined(separator: "\n"))
        let trial = grantor("grants import \(path)")
        #expect(trial.status == .failed)
        #expect(
            trial.output
                == """
                line 1202: the purchase is another user's, or another app's, by line 8
                line 1203: the purchase is another user's, or another app's, by line 7
                line 1208: the purchase is another user's, or another app's, by line 1204
                1208 lines: 0 faulty, 1202 new, 3 there already (1 under another transaction), 3 of others; --apply \
                imports them

                """)
        #expect(trial.errors == "grantor: 3 purchases would stay as the ledger has them\n")
        let done = grantor("grants import \(path) \(Self.apply)")
        #expect(
            done.output.hasSuffix(
                "1208 lines: 1202 imported, 3 there already (1 under another transaction), 3 of others\n"))
    }

    @Test("With a fault in any line nothing is imported, and each is named with its line")
    func faults() throws {
        let path = try file(
            line(1), "{", line(2, #","orderID":"x""#), line(3).replacing("consumable", with: "nonConsumable"),
            line(4).replacing("consumable", with: "autoRenewable"), line(0),
            line(5).replacing("2024-05-01T10:00:00Z", with: "1714557600"),
            line(6).replacing("1714557605000", with: "9714557605000"), line(7).replacing("\"7\"", with: "7.5"),
            line(8, #","quantity":0,"quantity":1"#), line(9) + String(repeating: " ", count: 70_000), line(10, "}"))
        let result = grantor("grants import \(path) \(Self.apply)")
        #expect(result.status == .failed)
        #expect(result.errors == "grantor: 11 lines are faulty; nothing was imported\n")
        #expect(
            result.output
                == """
                line 2: is no JSON object: not JSON
                line 3: has an unknown member, "orderID"
                line 4: has no originalTransactionId, by which a nonConsumable is granted once
                line 5: has no originalTransactionId, by which a autoRenewable is granted once; has no \
                webOrderLineItemId, by which a period is granted once; null where none is known
                line 6: has a transactionId of a form that is not allowed
                line 7: has a purchasedAt of a form that is not allowed
                line 8: has a grantedAt of a form that is not allowed
                line 9: has a transactionId that is no whole number below 2^53; write it as a string
                line 10: has a member twice, or too many of them
                line 11: is longer than 65536 bytes
                line 12: is no JSON object: text after the JSON object
                12 lines: 11 faulty

                """)
        #expect(try grantor.ledger.grants(GrantQuery()).isEmpty)
        #expect(try grantor.ledger.actions(on: nil).isEmpty)
    }

    @Test("An original transaction that is null or empty is none, and a consumable needs none")
    func withoutOriginal() throws {
        let castle = line(2).replacing("consumable", with: "nonConsumable").dropLast()
        let path = try file(
            line(1, #","originalTransactionId":null"#), castle + #","originalTransactionId":null}"#,
            castle + #","originalTransactionId":""}"#, castle + #","originalTransactionId":{}}"#)
        #expect(
            grantor("grants import \(path)").output
                == """
                line 2: has no originalTransactionId, by which a nonConsumable is granted once
                line 3: has no originalTransactionId, by which a nonConsumable is granted once
                line 4: has a originalTransactionId that is neither a text nor a number
                4 lines: 3 faulty, 1 new, 0 there already, 0 of others

                """)
    }

    @Test("A file that grows during the import ends it before its new lines", arguments: ["{", nil])
    func grows(_ added: String?) throws {
        let path = try file((1...4_100).map { line($0) }.joined(separator: "\n"))
        let more = Data(((added ?? line(5_000)) + "\n").utf8)
        grantor.atPause {
            guard let file = FileHandle(forWritingAtPath: path) else { return }
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: more)
        }
        let result = grantor("grants import \(path) \(Self.apply)")
        #expect(result.status == .failed)
        #expect(
            result.output
                == "4100 lines: 4000 imported, 0 there already, 0 of others; the rest is not: go on with --from-line "
                + "4001\n")
        #expect(result.errors == "grantor: former.jsonl has changed since its lines were checked\n")
    }

    @Test("A file that loses lines during the import ends it, and says how far it came")
    func shrinks() throws {
        let path = try file((1...6_000).map { line($0) }.joined(separator: "\n"))
        let whole = try Data(contentsOf: URL(filePath: path))
        // The reader has the first MiB by then.
        let cut = try #require(whole[(1 << 20)...].firstIndex(of: UInt8(ascii: "\n")))
        let left = whole[...cut].count { $0 == UInt8(ascii: "\n") }
        grantor.atPause { _ = truncate(path, cut + 1) }
        let result = grantor("grants import \(path) \(Self.apply)")
        #expect(result.status == .failed)
        #expect(
            result.output
                == "6000 lines: \(left) imported, 0 there already, 0 of others; the rest is not: go on with --from-line "
                + "\(left + 1)\n")
    }

    @Test("Of many faults the first are named, and all are counted")
    func manyFaults() throws {
        let path = try file(Array(repeating: "{}", count: 30).joined(separator: "\n"))
        let output = grantor("grants import \(path)").output
        #expect(output.split(separator: "\n").count == 22)
        #expect(output.contains("line 20: has no bundleId; has no environment;"))
        #expect(output.hasSuffix("and 10 more lines\n30 lines: 30 faulty, 0 new, 0 there already, 0 of others\n"))
    }

    @Test("A paid period may lack its line item if the file says so, and is counted")
    func periods() throws {
        let period = line(1).replacing("consumable", with: "autoRenewable").dropLast()
        let path = try file(
            period + #","originalTransactionId":"1","webOrderLineItemId":null}"#,
            period.replacing("\"1\"", with: "\"2\"") + #","originalTransactionId":"1","webOrderLineItemId":"900"}"#)
        let result = grantor("grants import \(path) \(Self.apply)")
        #expect(
            result.output
                == """
                2 lines: 2 imported, 0 there already, 0 of others
                1 period has no webOrderLineItemId: a restore of one, under another transaction, is not known as the \
                same.

                """)
        #expect(
            Set(try grantor.ledger.grants(GrantQuery()).map(\.grant.key.name)) == ["w:900", "p:1:1714557600000"])
    }

    @Test("A line item of zeros is none, and zeros in front make no other one")
    func lineItems() throws {
        let period = { (transaction: Int, lineItem: String) -> String in
            line(transaction).replacing("consumable", with: "autoRenewable").dropLast()
                + #","originalTransactionId":"1","webOrderLineItemId":\#(lineItem)}"#
        }
        let path = try file(
            period(1, #""0""#), period(2, "0").replacing("10:00:00Z", with: "11:00:00Z"), period(3, #""0900""#),
            period(4, "900"))
        let result = grantor("grants import \(path) \(Self.apply)")
        #expect(
            result.output.hasPrefix("4 lines: 3 imported, 1 there already (1 under another transaction), 0 of others"))
        #expect(
            Set(try grantor.ledger.grants(GrantQuery()).map(\.grant.key.name))
                == ["w:900", "p:1:1714557600000", "p:1:1714561200000"])
        let json = grantor("grants import \(path) --json").output
        #expect(json.contains("\"present\" : 4") && json.contains("\"presentUnderAnother\" : 1"))
    }

    @Test("Lines end in any way, and the last one without an end counts")
    func lineEnds() throws {
        let path = try grantor.write(file: "dos.jsonl", "\u{FEFF}" + line(1) + "\r\n\r\n" + line(2))
        #expect(grantor("grants import \(path)").output.hasPrefix("2 lines: 0 faulty, 2 new"))
    }

    @Test("A file that is not there ends the command")
    func missing() {
        #expect(grantor("grants import /nowhere/former.jsonl").status == .failed)
        #expect(grantor("grants import /").status == .failed)
        #expect(grantor("grants import").status == .usage)
    }
}

@Suite("Lines of a file that share a purchase")
struct SharedNamesTests {
    private func grant(_ number: Int, line: Int, user: UserID = "u") -> Grant {
        let claimant = Claimant(
            submissionID: "s", userID: user, bundleID: UpkeepRun.app, orderID: nil, traceparent: nil)
        return Grant(
            imported: .sample(TransactionID("\(number)")), type: .consumable, to: claimant, grantedAt: UpkeepRun.now,
            line: line, of: "file")
    }

    @Test("None that came before is missed, and few others are taken for one")
    func found() {
        var shared = SharedNames(size: 2_000_000)
        for number in 0..<20_000 { shared.add(grant(number, line: number)) }
        for number in stride(from: 0, to: 20_000, by: 100) { shared.add(grant(number, line: 20_000 + number)) }
        let found = (0..<20_000).filter { shared.contains(grant($0, line: 0)) }
        #expect(found.count { $0 % 100 == 0 } == 200)
        #expect(found.count < 600 && !shared.isFull)
    }

    @Test("More than there is room for are said to be too many")
    func full() {
        var shared = SharedNames(size: 0, most: 3)
        for number in [1, 2, 1] { shared.add(grant(number, line: number)) }
        #expect(!shared.isEmpty && !shared.isFull)
        shared.add(grant(2, line: 4))
        #expect(shared.isFull)
    }
}
