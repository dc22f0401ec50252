import Contract
import Testing

@testable import AppStore

@Suite("Receipts in the style of iOS 6")
struct TransactionReceiptTests {
    static func text(id: String = "1001", bid: String = "com.example.game", more: String = "") -> String {
        let info = """
            {
            \t"original-transaction-id" = "1001";
            \t"transaction-id" = "\(id)";
            \t"purchase-date-ms" = "1795237142000";
            \t"bid" = "\(bid)";
            }
            """
        return """
            {
            \t"signature" = "AAAA";
            \t"purchase-info" = "\(SignedToken.base64(Array(info.utf8)))";
            \t"pod" = "100";\(more)
            \t"signing-status" = "0";
            }
            """
    }

    static func base64(id: String = "1001", bid: String = "com.example.game") -> String {
        SignedToken.base64(Array(text(id: id, bid: bid).utf8))
    }

    @Test("What Apple's reply is known by is read, and what the sender says of app, time and environment")
    func reading() throws {
        let receipt = try #require(TransactionReceipt(Array(Self.text(id: "001001").utf8)))
        #expect(receipt.transactionID == "1001" && receipt.bundleID == "com.example.game" && !receipt.saysSandbox)
        #expect(receipt.purchasedAt == Timestamp(milliseconds: 1_795_237_142_000))
        let sandbox = Self.text(more: "\"environment\" = \"Sandbox\";")
        #expect(TransactionReceipt(Array(sandbox.utf8))?.saysSandbox == true)
    }

    @Test("A receipt that does not say which transaction it is of is none", arguments: ["", "0", "x"])
    func nameless(id: String) {
        #expect(TransactionReceipt(Array(Self.text(id: id).utf8)) == nil)
    }

    @Test("It is read from base64 in every spelling, also with spaces in place of plus signs")
    func spelling() throws {
        // A tab and a plus sign need the characters that forms spoil.
        let base64 = SignedToken.base64(Array(Self.text(more: "\t\"x\" = \"\u{fb}\u{fb}>>>\";").utf8))
        try #require(base64.contains("+"))
        #expect(
            TransactionReceipt.read(EvidenceText(base64.replacing("+", with: " ")))?.receipt.transactionID == "1001")
    }
}

@Suite("Property lists in the style of NeXT")
struct PropertyListTests {
    private func list(_ text: String) -> PropertyList? { PropertyList(Array(text.utf8)) }

    @Test("Texts in quotes and bare words are read, with escapes and without the last semicolon")
    func reading() {
        let list = list(#"{ "a" = "x\"y"; b=c-1.2_3 ; "d" = "" }"#)
        #expect(list?["a"] == "x\"y" && list?["b"] == "c-1.2_3" && list?["d"] == "" && list?["e"] == nil)
    }

    @Test(
        "Everything else is none",
        arguments: ["", "{", "[]", "{a}", "{a=}", "{a=(1,2);}", "{\"a\" = \"x", "{a=b;", "{\"a\":1}", "{a=\"\\"])
    func others(text: String) { #expect(list(text) == nil) }

    @Test("A list of too many members is not read on")
    func bound() {
        func members(_ count: Int) -> String { "{" + (0..<count).map { "k\($0)=v;" }.joined() + "}" }
        #expect(list(members(PropertyList.maxMembers)) != nil)
        #expect(list(members(PropertyList.maxMembers + 1)) == nil)
    }
}
