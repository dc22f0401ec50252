import Foundation
import Ledger
import Logging

/// A folder for one test's ledger file, removed with the last reference.
final class TemporaryLedger: Sendable {
    let folder: String
    var path: String { folder + "/ledger.db" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        // A folder that stays behind harms no test; the system clears its temporary folders.
        try? FileManager.default.removeItem(atPath: folder)
    }

    func open(
        migrate: Bool = true, busyTimeout: Duration = .seconds(5), maxCheckedBytes: Int64 = 1 << 30
    ) async throws(LedgerError) -> SQLiteLedger {
        let configuration = SQLiteLedgerConfiguration(
            path: path, migrate: migrate, busyTimeout: busyTimeout, maxCheckedBytes: maxCheckedBytes)
        return try await SQLiteLedger.open(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}
