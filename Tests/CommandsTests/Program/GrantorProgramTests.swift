import CLibcrypto
import Testing

@testable import Commands

struct GrantorProgramTests {
    @Test("A host whose OpenSSL offers nothing is refused before a command begins")
    func withoutProviders() async {
        await #expect(processExitsWith: .exitCode(78)) {
            EVP_set_default_properties(nil, "provider=none")
            GrantorProgram.main(["--version"])
        }
        await #expect(processExitsWith: .success) { GrantorProgram.main(["--version"]) }
    }
}
