import Foundation
import Ledger
import Logging

/// How commands get at the ledger.
struct LedgerOpener: Sendable {
    /// What a migration did.
    enum Migration: Hashable, Sendable {
        case alreadyCurrent
        case migrated(from: Int, to: Int)
    }

    /// Opens what is there, and changes nothing.
    let reader: @Sendable (LedgerSettings, Logger) async throws(LedgerError) -> any OperatorLedger
    /// Creates what is missing and brings an older schema up to date.
    let migrate: @Sendable (LedgerSettings, Logger) async throws(LedgerError) -> Migration

    /// What this task's commands use; the embedded ledger unless a test puts another in its place.
    @TaskLocal static var current = LedgerOpener.embedded

    /// The SQLite file of the configuration.
    static let embedded = LedgerOpener(
        reader: { settings, logger async throws(LedgerError) in
            // Whoever asks about a purchase must not be told that an empty ledger has none of it.
            guard FileManager.default.fileExists(atPath: settings.path) else {
                throw .unusable("there is no ledger at \(settings.path); is GRANTOR_LEDGER_URL right?")
            }
            return try await SQLiteLedger.open(
                SQLiteLedgerConfiguration(path: settings.path, migrate: false), logger: logger)
        },
        migrate: { settings, logger async throws(LedgerError) in
            func open(migrate: Bool) async throws(LedgerError) {
                let configuration = SQLiteLedgerConfiguration(path: settings.path, migrate: migrate)
                try await SQLiteLedger.open(configuration, logger: logger).close()
            }
            do throws(LedgerError) {
                try await open(migrate: false)
                return .alreadyCurrent
            } catch {
                guard case .schemaBehind(let found, let known) = error else { throw error }
                try await open(migrate: true)
                return .migrated(from: found, to: known)
            }
        })
}
