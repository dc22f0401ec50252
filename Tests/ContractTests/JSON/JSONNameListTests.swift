import Testing

@testable import Contract

@Suite("A list of names")
struct JSONNameListTests {
    @Test("finds each of its names and no other")
    func found() {
        let list = JSONNameList(["a", "", "bcd", "bce", "é", "a"])
        let expected: [(String, Int?)] = [
            ("a", 0), ("", 1), ("bcd", 2), ("bce", 3), ("é", 4), ("e\u{301}", nil), ("bc", nil), ("bcdb", nil),
            ("A", nil),
        ]
        for (name, index) in expected {
            let bytes = Array(name.utf8)
            #expect(list.index(of: bytes.span) == index, "\(name)")
        }
    }

    @Test("has none where there is none")
    func empty() {
        let bytes = Array("a".utf8)
        #expect(JSONNameList([]).index(of: bytes.span) == nil)
    }
}
