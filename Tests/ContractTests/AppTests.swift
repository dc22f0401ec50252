import Contract
import Testing

@Suite("App")
struct AppTests {
    @Test("allows sandbox purchases to everybody, to nobody or to the listed")
    func sandbox() {
        #expect(SandboxPolicy.accept.allows("a"))
        #expect(!SandboxPolicy.reject.allows("a"))
        #expect(SandboxPolicy.users(["a"]).allows("a"))
        #expect(!SandboxPolicy.users(["a"]).allows("A"))
    }

    @Test("is strict about tokens, tells repeats and waits for verifyReceipt, unless it says otherwise")
    func defaults() {
        let app = App(bundleID: "com.example.game", sandbox: .reject, products: .any)
        #expect(app.accountToken == .match)
        #expect(app.repeats == .publish)
        #expect(app.whenVerifyReceiptUnavailable == .wait)
        #expect(!app.acceptsFamilySharing)
    }
}
