import Foundation
import Ledger
import Logging
import PostgresTesting
import Testing

@testable import Worker

@Suite struct LedgerOpenerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("A database is brought up to date by migrate, and by nothing else")
    func database() async throws {
        let server = try await PostgresServer.sharedServer()
        let url = server.url(schema: try await server.freshSchema())
        let settings = LedgerSettings.server(try #require(PostgresLedgerConfiguration(url: url)))
        let opener = LedgerOpener.configured
        for migratingFile in [false, true] {
            await #expect {
                _ = try await OpenLedger(settings, migratingFile: migratingFile, logger: logger)
            } throws: { error in
                if case LedgerError.schemaBehind(found: 0, _) = error { true } else { false }
            }
        }
        guard case .migrated(from: 0, to: let version) = try await opener.migrate(settings, logger) else {
            Issue.record("not migrated")
            return
        }
        #expect(version > 0)
        #expect(try await opener.migrate(settings, logger) == .alreadyCurrent)
        #expect(try await opener.reader(settings, logger).counts().grants == 0)
        let open = try await OpenLedger(settings, migratingFile: false, logger: logger)
        try await open.close()
    }

    @Test("A file that is not there is no empty ledger")
    func file() async throws {
        let settings = LedgerSettings.file("/nonexistent/ledger.db")
        await #expect(throws: LedgerError.self) { _ = try await LedgerOpener.configured.reader(settings, logger) }
    }
}
