import ArgumentParser
import Foundation
import Ledger

/// `grantor migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Creates the ledger, or brings its schema up to date.")

    @OptionGroup var configuration: ConfigurationOptions

    func run() async throws {
        let settings = try configuration.load().ledger
        let migration: LedgerOpener.Migration
        do throws(LedgerError) {
            migration = try await LedgerOpener.current.migrate(settings, CommandLogger.make(label: "ledger"))
        } catch {
            throw error.exitStatus.saying(error.advice)
        }
        FileHandle.standardOutput.write(Data("\(Self.text(migration))\n".utf8))
    }

    static func text(_ migration: LedgerOpener.Migration) -> String {
        switch migration {
        case .alreadyCurrent: "The ledger's schema is up to date."
        case .migrated(let from, let to): "The ledger's schema went from version \(from) to version \(to)."
        }
    }
}
