import Testing

@testable import AppStore

struct LineItemTests {
    @Test(
        "A number is the same however many zeros stand before it, and zero is none",
        arguments: [
            ("9001", "9001"), ("009001", "9001"), ("0", nil), ("000", nil), ("90010", "90010"), ("0x1", "0x1"),
            ("", ""),
        ] as [(String, String?)])
    func id(text: String, id: String?) {
        #expect(LineItem.id(text) == id)
    }
}
