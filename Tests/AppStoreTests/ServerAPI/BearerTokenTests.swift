import Testing

@testable import AppStore

@Suite("Bearer token")
struct BearerTokenTests {
    @Test("does not show itself, alone or within something else")
    func redacted() {
        let token = BearerToken(text: "eyJhbGciOi.secret.secret", number: 1)
        var shown = "\(token) \(String(reflecting: token)) \([token]) \(Optional(token) as Any)"
        dump(token, to: &shown)
        #expect(!shown.contains("secret"))
        #expect("\(token)" == "<redacted>")
    }
}
