import Testing

@testable import AppStore

@Suite("Shared secret")
struct SharedSecretTests {
    @Test("never shows itself, alone or inside something else")
    func redaction() {
        let secret = SharedSecret("5ec7e7")
        var dumped = ""
        dump([secret], to: &dumped)
        for text in [
            "\(secret)", String(reflecting: secret), "\([secret])", dumped,
            "\(VerifyReceiptRequest(base64: [], secret: secret))",
        ] {
            #expect(!text.contains("5ec7e7"))
        }
    }
}
