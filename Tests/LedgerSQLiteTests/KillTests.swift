import CSQLite
import Contract
import FoundationEssentials
import Glibc
import Ledger
import LedgerConformance
import LedgerModel
import Testing

@testable import LedgerSQLite

@Suite struct KillTests {
    private let file = TemporaryLedger()

    /// Copies a ledger's files before each statement, as a process that is killed there leaves them.
    private final class Copies {
        let file: TemporaryLedger
        private(set) var folders: [URL] = []

        init(of file: TemporaryLedger) { self.file = file }

        func add() {
            let folder = file.folder.appending(path: "killed-\(folders.count)")
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            for name in ["ledger.db", "ledger.db-wal"] {
                try? FileManager.default.copyItem(
                    at: file.folder.appending(path: name), to: folder.appending(path: name))
            }
            folders.append(folder)
        }
    }

    @Test("A process that is killed between any two statements leaves whole calls", arguments: UInt64(100)..<104)
    func killed(seed: UInt64) throws {
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        let copies = Copies(of: file)
        let model = LedgerModel(now: Samples.noon).subject
        let subject = ConformanceSubject(ledger: ledger, other: ledger, setClock: { file.clock.set($0) })
        try model.own()
        try subject.own()
        // The model goes through the same calls and says how the ledger looks after each.
        var wanted = Set([try LedgerContent(of: model.ledger)])
        // `copies` outlives the trace, which ends with the connection.
        let context = Unmanaged.passUnretained(copies).toOpaque()
        sqlite3_trace_v2(
            ledger.database.handle, UInt32(SQLITE_TRACE_STMT),
            { _, context, _, _ in
                if let context { Unmanaged<Copies>.fromOpaque(context).takeUnretainedValue().add() }
                return 0
            }, context)
        var plays = [RandomPlay(seed: seed), RandomPlay(seed: seed)]
        for _ in 0..<25 {
            _ = try plays[0].step(subject)
            _ = try plays[1].step(model)
            wanted.insert(try LedgerContent(of: model.ledger))
        }
        sqlite3_trace_v2(ledger.database.handle, 0, nil, nil)
        #expect(copies.folders.count > 100)
        for folder in copies.folders {
            let left = SQLiteLedgerConfiguration(path: folder.appending(path: "ledger.db").path)
            let content = try LedgerContent(of: try SQLiteLedger(left))
            try #require(wanted.contains(content), "\(folder.lastPathComponent) of seed \(seed)")
        }
    }

    @Test("A process that is killed within a transaction holds nothing up and leaves nothing of it")
    func killedProcess() async throws {
        let path = file.path
        try SQLiteLedger.migrate(file.configuration)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let ledger = try SQLiteLedger(SQLiteLedgerConfiguration(path: path))
            try ConformanceSubject(ledger: ledger, other: ledger, setClock: { _ in }).own()
            try ledger.database.run("BEGIN IMMEDIATE")
            try ledger.database.run("UPDATE partitions SET next_offset = 99")
            kill(getpid(), SIGKILL)
        }
        let ledger = try SQLiteLedger(file.configuration)
        let subject = ConformanceSubject(ledger: ledger, other: ledger, setClock: { _ in })
        let result = try subject.own(2)
        guard case .taken(let start)? = result else {
            Issue.record("it is \(String(describing: result))")
            return
        }
        #expect(start.starts == 2)
        #expect(start.next == nil)
    }
}
