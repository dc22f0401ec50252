import Glibc
public import Ledger

extension SQLiteLedger {
    /// Looks at a file as a worker would find it, and changes nothing: a write begins and is rolled back.
    /// - Returns: A finding for each thing; none where there is no ledger.
    /// - Throws: as ``init(_:)``.
    public static func examine(_ configuration: SQLiteLedgerConfiguration) throws(LedgerError) -> [LedgerFinding] {
        guard try exists(configuration) else { return [] }
        let ledger = try SQLiteLedger(configuration)
        return [
            SQLiteExamination.disk(free: SQLiteExamination.free(at: configuration.path)),
            SQLiteExamination.write(ledger.database, at: configuration.path),
        ]
    }
}

/// Everything that `grantor check` looks at in a ledger's file and below it.
enum SQLiteExamination {
    /// With fewer free bytes a worker soon stands still: its log grows to this size between two checkpoints.
    static let leastFree: Int64 = 256 << 20
    /// With fewer free bytes a person should make room: a grant takes a few hundred bytes.
    static let enoughFree: Int64 = 2 << 30

    /// - Parameter free: Bytes; nil where the file system does not report them.
    static func disk(free: Int64?) -> LedgerFinding {
        guard let free else { return LedgerFinding("disk", "its free space is not told") }
        let facts = "\(text(free)) free"
        if free < leastFree {
            return LedgerFinding("disk", facts, failures: ["less than \(text(leastFree)): make room"])
        }
        if free < enoughFree {
            return LedgerFinding("disk", facts, warnings: ["less than \(text(enoughFree)): make room"])
        }
        return LedgerFinding("disk", facts)
    }

    /// Free bytes for users without privileges, below an existing path; nil where the file system does not report them.
    static func free(at path: String) -> Int64? {
        var system = statvfs()
        // A file system in memory may have no size.
        guard statvfs(path, &system) == 0, system.f_blocks > 0 else { return nil }
        let (bytes, isTooMany) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return isTooMany ? .max : Int64(clamping: bytes)
    }

    /// Writes a row and takes it back. This shows that rights, the lock of writers and the file system are as a worker
    /// needs them.
    static func write(_ database: Database, at path: String) -> LedgerFinding {
        do throws(StoreError) {
            try database.run(
                """
                BEGIN IMMEDIATE;
                INSERT INTO workers (id, name, version, started_at, seen_at) VALUES (0, '', '', 0, 0);
                ROLLBACK
                """)
            return LedgerFinding("write", "a row can be written")
        } catch {
            return LedgerFinding("write", "no row can be written", failures: [error.error(at: path).detail])
        }
    }

    private static func text(_ bytes: Int64) -> String {
        bytes < 1 << 30 ? "\(bytes >> 20) MiB" : "\(bytes >> 30) GiB"
    }
}
