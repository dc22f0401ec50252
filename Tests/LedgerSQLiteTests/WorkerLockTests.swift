import FoundationEssentials
import Glibc
import Ledger
import LedgerConformance
import Testing

@testable import LedgerSQLite

@Suite struct WorkerLockTests {
    /// Another worker's lock on a file, which this process does not take for its own.
    private struct OtherWorker: ~Copyable {
        private let file: CInt

        init(_ path: String) {
            file = open(path, O_RDWR | O_CLOEXEC)
            flock(file, LOCK_EX | LOCK_NB)
        }

        func end() { flock(file, LOCK_UN) }

        deinit {
            // Closing alone would leave the lock to a process that another test has begun to start. Such a process has
            // copies of all descriptors until it runs its program.
            end()
            close(file)
        }
    }

    private let file = TemporaryLedger()
    private var us: String { "process \(getpid())" }

    /// Another name of the ledger's file.
    private func name(_ kind: String) throws -> SQLiteLedgerConfiguration {
        let path = file.folder.appending(path: "\(kind).db").path
        if kind == "link" {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: file.path)
        } else if kind == "hard link" {
            try #require(link(file.path, path) == 0)
        }
        return SQLiteLedgerConfiguration(path: kind == "itself" ? file.path : path)
    }

    @Test(
        "A second worker waits for the first, by whatever name it has the file",
        arguments: ["itself", "link", "hard link"])
    func waits(kind: String) throws {
        try Data().write(to: URL(filePath: file.path))
        let other = OtherWorker(file.path)
        #expect(try SQLiteLedger.claim(name(kind), creating: true) == us)
        #expect(try SQLiteLedger.claim(file.configuration, creating: false) == us)
        withExtendedLifetime(other) {}
    }

    @Test("The first worker's end lets the second one work")
    func ended() throws {
        try Data().write(to: URL(filePath: file.path))
        do {
            let other = OtherWorker(file.path)
            #expect(try SQLiteLedger.claim(file.configuration, creating: true) == us)
            withExtendedLifetime(other) {}
        }
        #expect(try SQLiteLedger.claim(file.configuration, creating: true) == nil)
        // The claim of a process counts for all of its connections, at any time.
        #expect(try SQLiteLedger.claim(file.configuration, creating: true) == nil)
        #expect(try SQLiteLedger.migrate(file.configuration) == (0, Migrations.sqlite.newest))
    }

    @Test("A worker that waits keeps SQLite's locks of its readers: the one that ends leaves them the log")
    func readers() async throws {
        let path = file.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try SQLiteLedger.migrate(SQLiteLedgerConfiguration(path: path))
        }
        let other = OtherWorker(path)
        let reader = try SQLiteLedger(file.configuration)
        let id = try reader.identity()
        for _ in 0..<3 { #expect(try SQLiteLedger.claim(file.configuration, creating: true) == us) }
        // The last connection to a file deletes its log and the log's index. Only another process meets these locks.
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = try SQLiteLedger(SQLiteLedgerConfiguration(path: path)).identity()
        }
        #expect(try reader.identity() == id)
        other.end()
        #expect(try SQLiteLedger.claim(file.configuration, creating: true) == nil)
        #expect(try SQLiteLedger.migrate(file.configuration) == (Migrations.sqlite.newest, Migrations.sqlite.newest))
        #expect(try SQLiteLedger(file.configuration).identity() == id)
    }

    @Test("A worker that waits opens the file once, and anew where another file has replaced it")
    func replaced() throws {
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                // One may have been closed meanwhile.
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file.path
            }
        }
        try Data().write(to: URL(filePath: file.path))
        let other = OtherWorker(file.path)
        for _ in 0..<3 { #expect(try SQLiteLedger.claim(file.configuration, creating: true) == us) }
        #expect(try descriptors() == 2)
        let former = file.folder.appending(path: "former.db").path
        try FileManager.default.moveItem(atPath: file.path, toPath: former)
        #expect(try SQLiteLedger.claim(file.configuration, creating: true) == nil)
        #expect(try descriptors() == 1)
        #expect(try SQLiteLedger.claim(SQLiteLedgerConfiguration(path: former), creating: true) == us)
        other.end()
        #expect(try SQLiteLedger.claim(SQLiteLedgerConfiguration(path: former), creating: true) == nil)
    }

    @Test("A worker that is killed leaves no lock")
    func killed() async throws {
        let path = file.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            _ = try SQLiteLedger.claim(SQLiteLedgerConfiguration(path: path), creating: true)
            kill(getpid(), SIGKILL)
        }
        #expect(try SQLiteLedger.claim(file.configuration, creating: false) == nil)
    }

    @Test("No ledger is made beside a worker, and one that is made needs no lock to be found so")
    func migrating() throws {
        try Data().write(to: URL(filePath: file.path))
        do {
            let other = OtherWorker(file.path)
            let detail = "\(us) has \(file.path); the schema changes while no worker runs"
            #expect(throws: LedgerError.unavailable(detail: detail)) { try SQLiteLedger.migrate(file.configuration) }
            withExtendedLifetime(other) {}
        }
        #expect(try SQLiteLedger.migrate(file.configuration) == (0, Migrations.sqlite.newest))
    }

    @Test("Without a file there is nothing to wait for, and none is made unless it is meant")
    func missing() throws {
        #expect(try SQLiteLedger.claim(file.configuration, creating: false) == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("A file with two names is refused: a log lies beside each of them")
    func names() throws {
        try SQLiteLedger.migrate(file.configuration)
        let second = try name("hard link")
        for configuration in [file.configuration, second] {
            let detail =
                "\(configuration.path): the file has 2 names (hard links), and a log beside each; keep one"
            #expect(throws: LedgerError.unusable(detail: detail)) { try SQLiteLedger(configuration) }
        }
        try FileManager.default.removeItem(atPath: second.path)
        _ = try SQLiteLedger(file.configuration)
    }
}
