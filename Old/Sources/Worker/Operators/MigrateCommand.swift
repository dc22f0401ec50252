import ArgumentParser
import Foundation
import Ledger

/// `grantor migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Creates the ledger, or brings its schema up to date.")

    @OptionGroup var configuration: ConfigurationOptions

    @Flag(name: .long, help: "Answer as JSON.")
    var json = false

    func run() async throws {
        let settings = try configuration.load { values throws(ConfigurationError) in try LedgerSettings(values) }
        let migration: LedgerOpener.Migration
        do throws(LedgerError) {
            migration = try await LedgerOpener.current.migrate(settings, CommandLogger.make(label: "ledger"))
        } catch {
            throw error.exitStatus.saying("\(error)")
        }
        try StandardOutput.write(Self.answer(migration, of: settings, json ? .json : .text(width: nil)))
    }

    static func answer(
        _ migration: LedgerOpener.Migration, of ledger: LedgerSettings, _ format: AnswerFormat
    ) -> String {
        format.render(json: MigrationJSON(migration)) { _ in text(migration, of: ledger) + "\n" }
    }

    /// Names the ledger: who forgot to say which has made a new one where he stands.
    private static func text(_ migration: LedgerOpener.Migration, of ledger: LedgerSettings) -> String {
        switch migration {
        case .alreadyCurrent: "The schema of \(ledger) is up to date."
        case .migrated(let from, let to): "The schema of \(ledger) went from version \(from) to version \(to)."
        }
    }
}

/// What a migration did as JSON; the versions only if it did something.
struct MigrationJSON: Encodable {
    let migrated: Bool
    let from, to: Int?

    init(_ migration: LedgerOpener.Migration) {
        switch migration {
        case .alreadyCurrent: (migrated, from, to) = (false, nil, nil)
        case .migrated(let old, let new): (migrated, from, to) = (true, old, new)
        }
    }
}
