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
        try StandardOutput.write(Self.answer(migration, json ? .json : .text(width: nil)))
    }

    static func answer(_ migration: LedgerOpener.Migration, _ format: AnswerFormat) -> String {
        format.render(json: MigrationJSON(migration)) { _ in text(migration) + "\n" }
    }

    static func text(_ migration: LedgerOpener.Migration) -> String {
        switch migration {
        case .alreadyCurrent: "The ledger's schema is up to date."
        case .migrated(let from, let to): "The ledger's schema went from version \(from) to version \(to)."
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
