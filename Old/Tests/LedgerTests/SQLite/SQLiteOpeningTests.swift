import Foundation
import GRDB
import LedgerConformance
import Purchases
import Testing

@testable import Ledger

@Suite struct SQLiteOpeningTests {
    @Test func durabilityAndIntegritySettingsAreOnWhereWritesHappen() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let found = try await ledger.pool.writeWithoutTransaction { database in
            try ["journal_mode", "synchronous", "foreign_keys", "busy_timeout", "application_id", "user_version"].map {
                try String.fetchOne(database, sql: "PRAGMA \($0)")
            }
        }
        #expect(found == ["wal", "2", "1", "5000", "1196576340", "\(Migration.latestVersion)"])
    }

    @Test func aForeignDatabaseIsRefusedAndLeftAsItWas() async throws {
        let place = try TemporaryLedger()
        let foreign = try DatabaseQueue(path: place.path)
        try await foreign.write { try $0.execute(sql: "CREATE TABLE theirs (x)") }
        try foreign.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
        await #expect(throws: LedgerError.unusable("\(place.path) is a SQLite database, but not a ledger")) {
            try await place.open()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
        #expect(!FileManager.default.fileExists(atPath: place.path + "-wal"))
    }

    @Test(arguments: [8192, 11])
    func aFileThatIsNoDatabaseIsNoLedger(size: Int) async throws {
        let place = try TemporaryLedger()
        let before = Data(repeating: 0x41, count: size)
        try before.write(to: URL(fileURLWithPath: place.path))
        for migrate in [true, false] {
            await #expect(throws: LedgerError.unusable("\(place.path) is not a ledger")) {
                try await place.open(migrate: migrate)
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
    }

    @Test func aDamagedLedgerIsRefused() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let batch = (0..<300).map { Samples.failure(.init("s\($0)")) }
        _ = try await ledger.settle(batch, quarantines: [], now: Samples.noon)
        try await ledger.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.path))
        try file.seek(toOffset: 4096 * 6)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 10))
        try file.close()
        await #expect { try await place.open() } throws: { error in
            if case LedgerError.damaged(let text) = error { text.hasPrefix(place.path) } else { false }
        }
    }

    @Test func aFileTooLargeToCheckOpensUnchecked() async throws {
        let place = try TemporaryLedger()
        try await place.open().close()
        let ledger = try await place.open(maxCheckedBytes: 1)
        #expect(try await ledger.counts().grants == 0)
    }

    @Test func aNewerSchemaIsRefused() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let known = Migration.latestVersion
        try await ledger.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(known + 1)") }
        try await ledger.close()
        await #expect(throws: LedgerError.schemaAhead(found: known + 1, known: known)) { try await place.open() }
    }

    @Test func aMissingLedgerIsNotMadeUnlessAskedFor() async throws {
        let place = try TemporaryLedger()
        await #expect(throws: LedgerError.schemaBehind(found: 0, known: Migration.latestVersion)) {
            try await place.open(migrate: false)
        }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test func anEmptyFileIsAnOlderSchema() async throws {
        let place = try TemporaryLedger()
        try Data().write(to: URL(fileURLWithPath: place.path))
        await #expect(throws: LedgerError.schemaBehind(found: 0, known: Migration.latestVersion)) {
            try await place.open(migrate: false)
        }
        #expect(try await place.open(migrate: true).counts().grants == 0)
    }

    @Test func aMissingFolderIsUnusable() async throws {
        let place = try TemporaryLedger()
        try FileManager.default.removeItem(atPath: place.folder)
        await #expect(throws: LedgerError.unusable("there is no folder \(place.folder)")) { try await place.open() }
    }

    @Test func aFolderIsUnusable() async throws {
        let place = try TemporaryLedger()
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: false)
        await #expect(throws: LedgerError.unusable("\(place.path) is a folder")) { try await place.open() }
    }

    @Test func aLedgerOfTheFirstVersionIsBroughtUpToDateWithAllThatItHolds() async throws {
        let place = try TemporaryLedger()
        let old = try DatabaseQueue(path: place.path)
        try await old.write { database in
            try database.execute(sql: Migration.ledger001.sql)
            try database.execute(sql: "PRAGMA application_id = 1196576340")
            try database.execute(sql: "PRAGMA user_version = 1")
        }
        try old.close()
        await #expect(throws: LedgerError.schemaBehind(found: 1, known: Migration.latestVersion)) {
            try await place.open(migrate: false)
        }
        #expect(try await place.open(migrate: true).deliveryCounts() == DeliveryCounts(open: 0, firstDueAt: nil))
    }

    @Test func migrationsAreNumberedWithoutGaps() {
        #expect(Migration.all.map(\.version) == Array(1...Migration.latestVersion))
    }

    /// One of them turns on write-ahead logging while the other does, which SQLite refuses without waiting.
    @Test(arguments: 0..<20)
    func twoProcessesMayMigrateAtOnce(round: Int) async throws {
        let place = try TemporaryLedger()
        async let first = place.open()
        async let second = place.open()
        let ledgers = try await [first, second]
        _ = try await ledgers[0].settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        #expect(try await ledgers[1].counts().submissions == [.failed: 1])
    }
}
