import Configuration
import Foundation
import Ledger
import Logging
import PostgresTesting
import Testing
import Threading

@testable import Worker

/// A worker at its start where no ledger is.
@Suite struct LedgerOpeningTests {
    /// - Returns: the ledger's id, or the line with which the worker ends.
    private func start(_ settings: LedgerSettings) throws -> Result<String?, LedgerError> {
        let logger = Logger(label: "test", level: .critical, handler: LineLogHandler(format: .text))
        do throws(LedgerError) {
            return .success(try LedgerOpening(settings).wait(try events(), logger: logger))
        } catch {
            return .failure(error)
        }
    }

    private func events() throws(LedgerError) -> Mailbox<ProcessEvent> {
        do { return try Mailbox(bound: 9) } catch { throw .unavailable(detail: "\(error)") }
    }

    @Test("On a server it makes none: others may share it, so it ends with a line that says who makes one")
    func server() throws {
        let server = try PostgresServer(settings: ["fsync = on"])
        defer { server.stop() }
        try server.createDatabase("empty")
        let url = try #require(PostgresURL(server.url(database: "empty") + "&connect_timeout=180"))
        guard case .failure(.unusable(let line)) = try start(.postgres(url)) else {
            Issue.record("it began")
            return
        }
        #expect(line.contains("it has no ledger") && line.contains("grantor migrate makes one"))
        #expect(!line.contains("\n"))
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        #expect(try server.run(tables, database: "empty") == "0")
    }

    @Test("A file has one worker, which makes it")
    func file() throws {
        let folder = URL(filePath: "/dev/shm").appending(path: "grantor-opening-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = LedgerSettings.sqlite(path: folder.appending(path: "ledger.db").path)
        #expect(try start(settings).get()?.utf8.count == 32)
    }
}
