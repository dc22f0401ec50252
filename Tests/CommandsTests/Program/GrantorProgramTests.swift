import CLibcrypto
import Glibc
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

    @Test("A process that ends by a signal leaves no core file")
    func coreFiles() async {
        await #expect(processExitsWith: .success) {
            let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
            var limit = rlimit()
            GrantorProgram.forbidCoreFiles()
            #expect(getrlimit(resource, &limit) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0)
        }
    }
}
