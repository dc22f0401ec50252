import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("The allocator")
    struct AllocatorTests {
        /// jemalloc tells its settings when a process ends that was asked to (jemalloc(3), `stats_print`).
        @Test("Memory is jemalloc's, set as this package sets it")
        func settings() async throws {
            let folder = try TemporaryFolder()
            let process = try ChildProcess(
                Executables.built("grantor"), ["--version"], environment: ["MALLOC_CONF": "stats_print:true"],
                in: folder.url, name: "grantor")
            #expect(try await process.exit(within: .seconds(20)) == .code(0))
            let settings = process.errors.lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
            for setting in [
                "opt.narenas: 2", "opt.dirty_decay_ms: 500", "opt.muzzy_decay_ms: 0", "opt.background_thread: true",
            ] {
                #expect(settings.contains(setting), "\(setting) is missing")
            }
        }
    }
}
