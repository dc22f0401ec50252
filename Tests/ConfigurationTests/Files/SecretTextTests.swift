import Testing

@testable import Configuration

@Suite("Secret texts")
struct SecretTextTests {
    @Test("No way of printing shows the secret")
    func redacted() {
        let secret = SecretText("canary")
        var dumped = ""
        dump([secret], to: &dumped)
        for text in [
            "\(secret)", String(reflecting: secret), String(describing: [secret]), dumped, "\(Optional(secret) as Any)",
        ] {
            #expect(!text.contains("canary"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(secret.revealed() == "canary")
    }
}
