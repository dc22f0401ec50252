import FoundationEssentials
import Glibc
import LedgerConformance
import Testing

@testable import LedgerSQLite

/// The way of pages from the write-ahead log into the database.
@Suite struct CheckpointTests {
    private let file = TemporaryLedger()

    private func bytes(_ suffix: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path + suffix)
        return try #require(attributes[.size] as? Int)
    }

    /// A ledger's connection that has changed more pages than may stay in the log.
    private func changed(_ database: Database) throws {
        try database.write { () throws(StoreError) in
            try database.run("CREATE TABLE IF NOT EXISTS ballast (bytes BLOB)")
            try database.run("DELETE FROM ballast")
            try database.run("INSERT INTO ballast VALUES (zeroblob(\(Int(Database.mostLogPages) * 4_096)))")
        }
    }

    @Test("A commit beyond the log's bound moves its pages, so that the log begins anew")
    func bounded() throws {
        try SQLiteLedger.migrate(file.configuration)
        let database = try SQLiteLedger(file.configuration).database
        for _ in 0..<4 { try changed(database) }
        #expect(try bytes() > Int(Database.mostLogPages) * 4_096)
        #expect(try bytes("-wal") < 2 * Int(Database.mostLogPages) * 4_096)
    }

    @Test("Small commits leave their pages in the log")
    func kept() throws {
        try SQLiteLedger.migrate(file.configuration)
        let before = try bytes()
        let ledger = try SQLiteLedger(file.configuration)
        try ConformanceSubject(ledger: ledger, other: ledger, setClock: { _ in }).own()
        #expect(try bytes() == before)
    }

    @Test("A transaction that changes nothing moves no pages of others")
    func unchanged() throws {
        try SQLiteLedger.migrate(file.configuration)
        let database = try SQLiteLedger(file.configuration).database
        try changed(database)
        let other = try SQLiteLedger(file.configuration).database
        try other.write { () throws(StoreError) in try other.run("INSERT INTO ballast VALUES (zeroblob(100000))") }
        let before = try Data(contentsOf: URL(filePath: file.path))
        try database.write { () throws(StoreError) in try database.run("DELETE FROM ballast WHERE bytes = 1") }
        #expect(try Data(contentsOf: URL(filePath: file.path)) == before)
    }

    @Test("Beside a writer no page is moved, and nobody waits; the next commit moves all")
    func excluded() throws {
        try SQLiteLedger.migrate(file.configuration)
        let database = try SQLiteLedger(file.configuration).database
        let writer = try SQLiteLedger(file.configuration).database
        try database.write { () throws(StoreError) in try database.run("CREATE TABLE ballast (bytes BLOB)") }
        try database.write { () throws(StoreError) in
            try database.run("INSERT INTO ballast VALUES (zeroblob(1000000))")
        }
        let before = try Data(contentsOf: URL(filePath: file.path))
        try writer.run("BEGIN IMMEDIATE")
        #expect(!database.checkpoint())
        #expect(try Data(contentsOf: URL(filePath: file.path)) == before)
        try writer.run("ROLLBACK")
        #expect(database.checkpoint())
        #expect(try Data(contentsOf: URL(filePath: file.path)) != before)
        #expect(try database.number("SELECT count(*) FROM ballast") == 1)
    }
}
