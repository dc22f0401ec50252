import Contract
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
