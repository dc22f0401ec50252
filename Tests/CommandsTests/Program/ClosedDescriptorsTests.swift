import ChildProcesses
import FileTesting
import Foundation
import Testing

@Suite("The program without standard descriptors")
struct ClosedDescriptorsTests {
    /// Carries the real program out by a shell, which closes descriptors first.
    private static func run(_ line: String, in folder: TemporaryFolder) throws -> Int32 {
        // The tests' bundle stands beside the programs of its build.
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = (tests as NSString).deletingLastPathComponent + "/grantor"
        let started = ChildProcess([
            "/usr/bin/env", "-i", "GRANTOR_LEDGER_URL=sqlite:\(folder.path)/ledger.db",
            "GRANTOR_APPS_FILE=\(folder.path)/apps.yaml", "GRANTOR_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:1",
            "/bin/sh", "-c", "exec \(program) \(line)",
        ])
        let shell = try #require(started)
        while shell.readLine() != nil {}
        return try #require(shell.end(), "no signal ended it")
    }

    @Test(
        "Answers and errors are never written into the ledger's file, whichever descriptors are closed",
        arguments: [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
    func ledger(closing: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("apps: [{ bundleId: com.example.game, products: {} }]", to: "apps.yaml")
        for _ in 0..<2 { _ = try Self.run("migrate \(closing)", in: folder) }
        let file = try #require(FileManager.default.contents(atPath: folder.path + "/ledger.db"))
        #expect(file.starts(with: Array("SQLite format 3".utf8)))
        #expect(try Self.run("migrate > /dev/null", in: folder) == 0)
    }
}
