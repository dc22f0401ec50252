import FoundationEssentials
import LedgerConformance
import LedgerSQLite

/// A folder of its own for one ledger, in memory: every commit is synced, and disks take milliseconds for that. It goes
/// with the suite that has it.
final class TemporaryLedger: Sendable {
    let folder = URL(filePath: "/dev/shm").appending(path: "grantor-ledger-\(UUID().uuidString)")
    let clock = ManualClock()

    init() {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    var path: String { folder.appending(path: "ledger.db").path }

    var configuration: SQLiteLedgerConfiguration {
        let clock = clock
        // Milliseconds that only a hang takes: on a busy machine others hold a lock for long.
        return SQLiteLedgerConfiguration(path: path, busyTimeout: 180_000, clock: { clock.now })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
