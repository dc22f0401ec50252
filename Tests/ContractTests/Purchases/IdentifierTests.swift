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
