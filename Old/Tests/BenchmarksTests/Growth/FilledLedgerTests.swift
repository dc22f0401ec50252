import Foundation
import GRDB
import Testing

@testable import grantor_bench

@Suite("Ledgers that are filled at once")
struct FilledLedgerTests {
    @Test("Every grant has its submission and its event, with all indexes there")
    func filled() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-filled-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "ledger.db")
        try await FilledLedger.make(at: file, rows: 500)
        let queue = try DatabaseQueue(path: file.path)
        let (joined, ids, indexes, check) = try await queue.read { database in
            (
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT count(*) FROM grants g JOIN submissions s USING (submission_id)
                        JOIN outbox o ON o.grant_key = g.grant_key AND o.event_id = s.event_ids
                        """),
                try Data.fetchAll(database, sql: "SELECT event_id FROM outbox ORDER BY event_id"),
                try String.fetchSet(
                    database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"),
                try String.fetchOne(database, sql: "PRAGMA integrity_check")
            )
        }
        #expect(joined == 500)
        #expect(Set(ids).count == 500)
        // Spread over all that there are, so that new ones fall between them.
        #expect(ids.first?.first == 0 && ids.last?.first == 255)
        #expect(indexes.isSuperset(of: ["grants_user", "grants_transaction", "submissions_user", "outbox_copies"]))
        #expect(check == "ok")
        try queue.close()
    }
}
