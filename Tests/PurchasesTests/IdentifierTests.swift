import Purchases
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
}
