import CSQLite
import Contract
import FoundationEssentials
import Glibc
import Ledger
import LedgerConformance
import Testing

@testable import LedgerSQLite

@Suite struct SQLiteOpeningTests {
    private let file = TemporaryLedger()
    private let other = TemporaryLedger()

    private func unusable(_ body: () throws(LedgerError) -> Void) -> String? {
        do throws(LedgerError) {
            try body()
            return nil
        } catch {
            guard case .unusable(let detail) = error else { return nil }
            return detail
        }
    }

    /// Whether a call ends as one whose connection is lost.
    private func isLost(_ call: () throws(LedgerError) -> Void) -> Bool {
        do throws(LedgerError) {
            try call()
            return false
        } catch {
            guard case .disconnected = error else { return false }
            return true
        }
    }

    @Test("A ledger that is not there is not made by opening it")
    func missing() throws {
        let detail = unusable { () throws(LedgerError) in _ = try SQLiteLedger(file.configuration) }
        #expect(detail?.contains("restore its backup") == true && detail?.contains("grantor migrate") == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("A path that cannot be looked up is told with the system's words, and not as a folder that is to be made")
    func lookedUp() throws {
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.path)
        let long = file.folder.path + "/" + String(repeating: "a", count: 300)
        for (path, words) in [(file.path, "Too many levels of symbolic links"), (long, "File name too long")] {
            let configuration = SQLiteLedgerConfiguration(path: path)
            let detail = unusable { () throws(LedgerError) in _ = try SQLiteLedger.exists(configuration) }
            #expect(detail == "\(path) cannot be looked up: \(words)")
        }
    }

    @Test("A migration makes a ledger once; its id stays")
    func migrated() throws {
        #expect(try SQLiteLedger.migrate(file.configuration) == (0, Migrations.sqlite.newest))
        let id = try SQLiteLedger(file.configuration).identity()
        #expect(id.utf8.count == 32)
        #expect(try SQLiteLedger.migrate(file.configuration) == (Migrations.sqlite.newest, Migrations.sqlite.newest))
        #expect(try SQLiteLedger(file.configuration).identity() == id)
        try SQLiteLedger.migrate(other.configuration)
        #expect(try SQLiteLedger(other.configuration).identity() != id)
    }

    @Test("A file of somebody else's is neither opened nor changed", arguments: ["text", "database"])
    func foreign(kind: String) throws {
        if kind == "text" {
            try Data("Shopping list, and long enough to be told from an empty file.".utf8).write(
                to: URL(filePath: file.path))
        } else {
            let database = try Database(path: file.path, creating: true, busyTimeout: 0)
            try database.run("CREATE TABLE shopping (item TEXT)")
        }
        let before = try Data(contentsOf: URL(filePath: file.path))
        #expect(unusable { () throws(LedgerError) in _ = try SQLiteLedger(file.configuration) } != nil)
        #expect(unusable { () throws(LedgerError) in try SQLiteLedger.migrate(file.configuration) } != nil)
        #expect(try Data(contentsOf: URL(filePath: file.path)) == before)
    }

    @Test("A newer ledger and an unfinished one are refused")
    func versions() throws {
        try SQLiteLedger.migrate(file.configuration)
        let database = try Database(path: file.path, creating: false, busyTimeout: 0)
        try database.run("PRAGMA user_version = \(Migrations.sqlite.newest + 2)")
        let newer = unusable { () throws(LedgerError) in _ = try SQLiteLedger(file.configuration) }
        #expect(newer?.contains("newer") == true)
        #expect(unusable { () throws(LedgerError) in try SQLiteLedger.migrate(file.configuration) } != nil)
        try database.run("PRAGMA user_version = 0")
        let unmade = unusable { () throws(LedgerError) in _ = try SQLiteLedger(file.configuration) }
        #expect(unmade?.contains("restore its backup") == true)
    }

    @Test("Every commit is synced, in write-ahead mode")
    func settings() throws {
        try SQLiteLedger.migrate(file.configuration)
        let database = try SQLiteLedger(file.configuration).database
        #expect(try database.text("PRAGMA journal_mode") == "wal")
        #expect(try database.number("PRAGMA synchronous") == 2)
    }

    @Test("Other users of the host cannot read the ledger's files", arguments: ["", "-wal", "-shm"])
    func mode(suffix: String) throws {
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        #expect(try ledger.group() == nil)
        var status = stat()
        #expect(stat(file.path + suffix, &status) == 0 && status.st_mode & 0o007 == 0)
    }

    @Test("A place that can have no ledger is named with what is wrong", arguments: ["folder", "link", "nowhere"])
    func place(kind: String) throws {
        let words: String
        switch kind {
        case "folder":
            try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
            words = "\(file.path) is not a file"
        case "link":
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/nowhere/grantor.db")
            words = "\(file.path) is a link to a file that is not there"
        default:
            try FileManager.default.removeItem(at: file.folder)
            words = "there is no folder for \(file.path); make it for the worker's user"
        }
        #expect(unusable { () throws(LedgerError) in _ = try SQLiteLedger(file.configuration) } == words)
        #expect(unusable { () throws(LedgerError) in try SQLiteLedger.migrate(file.configuration) } == words)
        #expect(unusable { () throws(LedgerError) in _ = try SQLiteLedger.exists(file.configuration) } == words)
    }

    @Test("A link leads to a ledger, and one that leads elsewhere now is a lost connection")
    func link() throws {
        for ledger in [file, other] { try SQLiteLedger.migrate(ledger.configuration) }
        let path = file.folder.appending(path: "link.db").path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: file.path)
        let ledger = try SQLiteLedger(SQLiteLedgerConfiguration(path: path))
        #expect(try ledger.identity() == SQLiteLedger(file.configuration).identity())
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other.path)
        #expect(isLost { () throws(LedgerError) in _ = try ledger.takeOver([]) })
    }

    @Test("A file that was deleted or replaced is a lost connection", arguments: [false, true])
    func replaced(isReplaced: Bool) throws {
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        let name = URL(filePath: file.path)
        let moved = file.folder.appending(path: "moved.db")
        try FileManager.default.moveItem(at: name, to: moved)
        if isReplaced { try FileManager.default.copyItem(at: moved, to: name) }
        #expect(isLost { () throws(LedgerError) in _ = try ledger.measure(as: Samples.worker) })
        #expect(isLost { () throws(LedgerError) in _ = try ledger.takeOver([]) })
    }

    @Test("A write-ahead log or its index that was deleted is a lost connection", arguments: ["-wal", "-shm"])
    func deleted(suffix: String) throws {
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        _ = try ledger.measure(as: Samples.worker)
        try FileManager.default.removeItem(at: URL(filePath: file.path + suffix))
        #expect(isLost { () throws(LedgerError) in _ = try ledger.takeOver([]) })
    }

    @Test(
        "Without its log no connection is opened beside a former one, which would damage the file",
        arguments: [["-wal"], ["-shm"], ["-wal", "-shm"]])
    func deletedBesideAnother(suffixes: [String]) throws {
        try SQLiteLedger.migrate(file.configuration)
        var former: SQLiteLedger? = try SQLiteLedger(file.configuration)
        var lost: SQLiteLedger? = try SQLiteLedger(file.configuration)
        // The log has a page of the schema's end and none of its beginning, as a quiet worker's has.
        former?.database.checkpoint()
        _ = try former?.measure(as: Samples.worker)
        for suffix in suffixes { try FileManager.default.removeItem(at: URL(filePath: file.path + suffix)) }
        #expect(isLost { () throws(LedgerError) in _ = try lost?.takeOver([]) })
        lost = nil
        do throws(LedgerError) {
            _ = try SQLiteLedger(file.configuration)
            Issue.record("it was opened")
        } catch {
            guard case .unusable(let detail) = error else {
                Issue.record("it is tried again for ever: \(error)")
                return
            }
            #expect(detail.contains("-wal or -shm file was deleted or replaced"))
        }
        former = nil
        let anew = try SQLiteLedger(file.configuration)
        #expect(try anew.takeOver([]) == [])
        #expect(try anew.database.text("PRAGMA integrity_check") == "ok")
    }

    @Test("Another process's write lock makes a call unavailable once the busy timeout is over")
    func locked() throws {
        try SQLiteLedger.migrate(file.configuration)
        var configuration = file.configuration
        configuration.busyTimeout = 1
        let ledger = try SQLiteLedger(configuration)
        let other = try Database(path: file.path, creating: false, busyTimeout: 0)
        try other.run("BEGIN IMMEDIATE")
        do throws(LedgerError) {
            _ = try ledger.takeOver([])
            Issue.record("it did not wait")
        } catch {
            var isUnavailable = false
            if case .unavailable = error { isUnavailable = true }
            #expect(isUnavailable, "\(error)")
        }
        _ = try ledger.identity()
        try other.run("ROLLBACK")
        #expect(try ledger.takeOver([]) == [])
    }

    @Test("Queries that workers make often go by their indexes")
    func plans() throws {
        try SQLiteLedger.migrate(file.configuration)
        let database = try SQLiteLedger(file.configuration).database
        let queries = [
            "\(GrantColumns.selection) WHERE grants.transaction_id = ?1 AND grants.environment = ?2",
            "\(GrantColumns.selection) WHERE coalesce(grant_key, grants.transaction_id) = ?1 AND grants.environment = ?2",
            "\(GrantColumns.selection) WHERE grants.submission_id = ? AND products.app = ?",
            "\(GrantColumns.selection) WHERE order_id = ?2 AND grants.sequence < ?1 ORDER BY grants.sequence DESC",
            "\(GrantColumns.selection) WHERE \(OriginRange.condition)",
            "SELECT 1 FROM retries WHERE endpoint = ?1 AND signed = ?2 AND due_at <= ?3 ORDER BY due_at, sequence",
            "SELECT 1 FROM outbox WHERE target = ? AND due_at <= ? ORDER BY due_at",
            "SELECT max(origin_offset) FROM grants WHERE origin_partition = ?",
            "SELECT app, count(*), sum(bytes) FROM retries GROUP BY app ORDER BY app",
            "SELECT 1 FROM retries WHERE endpoint IS NULL AND due_at <= ?2 ORDER BY due_at, sequence",
            RetryTable.heldByDetail, RetryTable.waitingByEndpoint,
        ]
        for query in queries {
            let plan = try database.statement("EXPLAIN QUERY PLAN \(query)").rows({ _ in }) { $0.text(3) }
            #expect(!plan.isEmpty)
            for line in plan {
                let isScan = line.hasPrefix("SCAN") && !line.contains("USING COVERING INDEX")
                // A part of the table is all of it where the list begins.
                let isPart = line.contains("INTEGER PRIMARY KEY (rowid<")
                #expect(!isScan && !isPart && !line.contains("TEMP B-TREE"), "\(query): \(line)")
            }
        }
    }
}
