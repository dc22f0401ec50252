import HTTPClient
import Testing

struct HTTPFailureTests {
    @Test func `names for metrics are lower-case words`() {
        for kind in HTTPFailure.Kind.allCases {
            #expect(kind.rawValue.allSatisfy { ("a"..."z").contains($0) || $0 == "_" })
        }
    }
}
