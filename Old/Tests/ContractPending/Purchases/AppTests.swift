import Contract
import Testing

@Suite("Sandbox policy")
struct AppTests {
    @Test("allows everybody, nobody or the listed")
    func policy() {
        #expect(SandboxPolicy.accept.allows("a"))
        #expect(!SandboxPolicy.reject.allows("a"))
        #expect(SandboxPolicy.users(["a"]).allows("a"))
        #expect(!SandboxPolicy.users(["a"]).allows("A"))
    }
}
