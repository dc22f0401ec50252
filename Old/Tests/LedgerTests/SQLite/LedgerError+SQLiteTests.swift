import GRDB
import Testing

@testable import Ledger

@Suite struct LedgerErrorSQLiteTests {
    private static let path = "/data/grantor.db"

    private func error(_ code: ResultCode, _ message: String = "words") -> DatabaseError {
        DatabaseError(resultCode: code, message: message, sql: "INSERT canary", arguments: ["canary"])
    }

    @Test(arguments: [ResultCode.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOTADB])
    func whatAPersonHasToMendIsUnusableAtOpening(code: ResultCode) {
        guard case .unusable(let text) = LedgerError(opening: error(code), at: Self.path) else {
            Issue.record("not unusable")
            return
        }
        #expect(text.hasPrefix(Self.path))
    }

    @Test(arguments: [ResultCode.SQLITE_FULL, .SQLITE_BUSY, .SQLITE_IOERR])
    func whatPassesIsUnavailableAtOpeningToo(code: ResultCode) {
        #expect(
            LedgerError(opening: error(code), at: Self.path)
                == .unavailable("\(Self.path): words (SQLite \(code.rawValue))"))
    }

    /// Somebody takes rights away or fills the disk under a worker: it waits until that is mended.
    @Test(arguments: [
        ResultCode.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_FULL, .SQLITE_BUSY,
        .SQLITE_IOERR, .SQLITE_NOMEM,
    ])
    func whatMayBeMendedUnderAWorkerIsUnavailable(code: ResultCode) {
        #expect(
            LedgerError(error(code), at: Self.path)
                == .unavailable("\(Self.path): words (SQLite \(code.rawValue))"))
    }

    @Test(arguments: [ResultCode.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_READONLY_DBMOVED, .SQLITE_CONSTRAINT])
    func damageIsDamage(code: ResultCode) {
        guard case .damaged(let text) = LedgerError(error(code), at: Self.path) else {
            Issue.record("not damaged")
            return
        }
        #expect(text.hasPrefix(Self.path) && text.contains("words"))
    }

    @Test func aDatabaseOfOthersIsUnusableAtOpeningAndDamageUnderAWorker() {
        #expect(
            LedgerError(opening: ForeignDatabase(), at: Self.path)
                == .unusable("\(Self.path) is a SQLite database, but not a ledger"))
        #expect(LedgerError(ForeignDatabase(), at: Self.path) == .damaged("\(Self.path) is no longer a ledger"))
    }

    @Test func aFullDiskIsToldInSQLitesWords() throws {
        let database = try DatabaseQueue()
        let full = #expect(throws: DatabaseError.self) {
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "CREATE TABLE t (x)")
                try database.execute(sql: "PRAGMA max_page_count = 2")
                try database.execute(sql: "INSERT INTO t VALUES (zeroblob(100000))")
            }
        }
        let told = "\(LedgerError(try #require(full), at: Self.path))"
        #expect(
            told == "the ledger is unavailable now, try again: \(Self.path): database or disk is full (SQLite 13)")
    }

    @Test func noStatementIsTold() {
        #expect(!"\(LedgerError(error(.SQLITE_CONSTRAINT), at: Self.path))".contains("canary"))
    }
}
