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

    /// What this task's commands use; the configured ledger unless a test puts another in its place.
    @TaskLocal static var current = LedgerOpener.configured

    /// The SQLite file or the PostgreSQL database of the configuration.
    static let configured = LedgerOpener(
        reader: { settings, logger async throws(LedgerError) in
            // Whoever asks about a purchase must not be told that an empty ledger has none of it.
            if case .file(let path) = settings, !FileManager.default.fileExists(atPath: path) {
                throw .unusable("there is no ledger at \(path); is GRANTOR_LEDGER_URL right?")
            }
            // Questions are answered by a standby, too; a change that is asked of it is refused by itself.
            return try await OpenLedger(settings, migratingFile: false, needsWrites: false, logger: logger).ledger
        },
        migrate: { settings, logger async throws(LedgerError) in
            if case .server(let configuration) = settings {
                let (from, to) = try await PostgresLedger.migrate(configuration)
                return from == to ? .alreadyCurrent : .migrated(from: from, to: to)
            }
            func open(migrate: Bool) async throws(LedgerError) {
                try await OpenLedger(settings, migratingFile: migrate, logger: logger).close()
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
