import Contract
import MemberTesting
import Testing

@Suite("Identifier")
struct IdentifierTests {
    @Test("keeps its text to the last character and compares by it")
    func text() {
        let id = TransactionID(" 0001 ")
        #expect(id.rawValue == " 0001 ")
        #expect("\(id)" == " 0001 ")
        #expect(id == " 0001 ")
        #expect(id != "1")
        #expect(Set<ProductID>(["b", "a", "b"]).sorted() == ["a", "b"])
    }

    @Test("is another one where only Unicode takes two texts for the same")
    func bytes() {
        let plain: BundleID = "com.example.Kart"
        let kelvin: BundleID = "com.example.\u{212A}art"
        #expect(plain.rawValue == kelvin.rawValue)
        #expect(plain != kelvin)
        #expect([plain: 1][kelvin] == nil)
        // In one order, and the same in every process.
        #expect(plain < kelvin && !(kelvin < plain))
        #expect([kelvin, "z", plain, "a"].sorted() == ["a", plain, kelvin, "z"])
    }
}

@Suite("Transaction ids")
struct TransactionIDTests {
    @Test(
        "are the same however many zeros stand in front, and none of zeros only",
        arguments: [
            ("123", "123", true), ("000123", "123", true), ("0", "0", false), ("0000", "0", false),
            ("", "", false), ("00x1", "00x1", false), ("12345678901234567890", "12345678901234567890", true),
            ("0012345678901234567890", "12345678901234567890", true), ("123456789012345678901", "", false),
        ])
    func reading(text: String, id: TransactionID, isWellFormed: Bool) {
        if !id.rawValue.isEmpty || text.isEmpty { #expect(TransactionID(reading: text) == id) }
        #expect(TransactionID(reading: text).isWellFormed == isWellFormed)
    }

    @Test("are not well formed with a zero in front: they were not read")
    func unread() {
        #expect(!TransactionID("000123").isWellFormed)
        #expect(TransactionID("123").isWellFormed)
    }

    @Test("give one grant key, whoever wrote the zeros")
    func grantKey() {
        let keys = ["123", "000123"].map { text in
            GrantKey(of: .sample(TransactionID(reading: text)), type: .consumable)
        }
        #expect(keys[0] == keys[1] && keys[0].text == "production:t:123")
    }
}

@Suite("Ids that are numbers")
struct DigitTextTests {
    @Test(
        "A number is the same however many zeros stand before it, and zero is none",
        arguments: [
            ("9001", "9001"), ("009001", "9001"), ("0", nil), ("000", nil), ("90010", "90010"), ("0x1", "0x1"),
            ("", ""),
        ] as [(String, String?)])
    func id(text: String, id: String?) {
        #expect(DigitText.withoutLeadingZeros(text) == id)
    }

    @Test(
        "Digits are ASCII digits", arguments: [("12", true), ("", false), ("123", false), ("1２", false), ("-1", false)])
    func digits(text: String, areDigits: Bool) {
        #expect(DigitText.isDigits(text, atMost: 2) == areDigits)
    }
}

@Suite("Name-based UUID")
struct NameBasedUUIDTests {
    /// The DNS namespace of RFC 9562 section 6.6.
    private let dns: [UInt8] = [
        0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
    ]

    @Test("gives the RFC's own example, and what Python's uuid module gives")
    func vectors() {
        #expect(NameBasedUUID.text(namespace: dns, name: "www.example.com") == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
        #expect(NameBasedUUID.text(namespace: dns, name: "python.org") == "886313e1-3b8a-5372-9b90-0c9aee199e5d")
    }

    @Test("keeps its namespaces for ever: a changed one would grant everything again")
    func namespaces() {
        #expect(
            NameBasedUUID.text(namespace: NameBasedUUID.grants, name: "x") == "28215508-b9d0-5210-abf7-0b1e4aa7f88c")
        #expect(
            NameBasedUUID.text(namespace: NameBasedUUID.events, name: "x") == "15339b8f-3277-5381-bcc6-240164632b76")
    }

    @Test("tells names and namespaces apart")
    func difference() {
        let texts = [
            NameBasedUUID.text(namespace: NameBasedUUID.grants, name: "a"),
            NameBasedUUID.text(namespace: NameBasedUUID.events, name: "a"),
            NameBasedUUID.text(namespace: NameBasedUUID.grants, name: "b"),
            NameBasedUUID.text(namespace: NameBasedUUID.grants, name: ""),
        ]
        #expect(Set(texts).count == 4)
        #expect(texts.allSatisfy { $0.utf8.count == 36 && $0.dropFirst(14).first == "5" })
    }
}
