import Testing

@testable import AppStoreSimulator

struct QueryItemsTests {
    @Test("Values keep their order")
    func order() {
        let items = QueryItems("status=1&x=a%2Fb&status=5")
        #expect(items.all("status") == ["1", "5"])
        #expect(items.all("x") == ["a/b"])
        #expect(items.all("y").isEmpty)
    }

    @Test("One value is read or refused")
    func single() throws {
        let items = QueryItems("a=1&b=x&c=1&c=2")
        #expect(try items.one("a", or: .invalidStartDate) { Int($0) } == 1)
        #expect(try items.one("d", or: .invalidStartDate) { Int($0) } == nil)
        for name in ["b", "c"] {
            #expect(throws: ServerAPIError.invalidStartDate) { try items.one(name, or: .invalidStartDate) { Int($0) } }
        }
    }

    @Test("A text that is no query has no values", arguments: [nil, "", "%", "%zz=1", "a=\u{1}", "a=\"", "&&=&"])
    func noQuery(query: String?) {
        #expect(QueryItems(query).all("a").isEmpty)
    }
}
