import HTTPClient
import Testing

struct HTTPFailureTests {
    @Test("Names for metrics are lower-case words")
    func names() {
        for kind in HTTPFailure.Kind.allCases {
            #expect(kind.rawValue.allSatisfy { ("a"..."z").contains($0) || $0 == "_" })
        }
    }
}
