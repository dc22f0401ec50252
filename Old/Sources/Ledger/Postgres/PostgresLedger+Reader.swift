import Foundation
public import Purchases

/// Pages hold at most ``PostgresLedger/maxPage`` rows, however many are asked for.
extension PostgresLedger: LedgerReader {
    public func submissions(
        _ filter: SubmissionFilter, before: Int64?, limit: Int
    ) async throws(LedgerError) -> [SubmissionRow] {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(SubmissionPage.read(filter, before: before, limit: Self.pageSize(limit)))
                .rows(SubmissionPage.row)
        }
    }

    public func grants(_ filter: GrantFilter, before: Int64?, limit: Int) async throws(LedgerError) -> [GrantRow] {
        try await pool.run { connection throws(PostgresFailure) in
            var key: String?
            if let grantID = filter.grantID {
                // A grant's id is made from its key, and is looked up through the event that is made from the id.
                key =
                    try connection.run(EventRows.grantKey(of: GrantedEvent.id(of: grantID)))
                    .rows { row throws(PostgresFailure) in row.optionalText(0) }.first ?? nil
                guard key != nil else { return [] }
            }
            return try connection.run(GrantPage.read(filter, key: key, before: before, limit: Self.pageSize(limit)))
                .rows(GrantPage.row)
        }
    }

    public func events(_ ids: [EventID]) async throws(LedgerError) -> [EventRow] {
        try await pool.run { connection throws(PostgresFailure) in
            try EventRows.rows(try connection.run(EventRows.events(ids)))
        }
    }

    public func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [EventRow] {
        try await pool.run { connection throws(PostgresFailure) in
            try EventRows.rows(try connection.run(EventRows.events(after: sequence, limit: Self.pageSize(limit))))
        }
    }

    public func waiting(_ key: SubmissionKey) async throws(LedgerError) -> WaitingState? {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(WaitingRows.state(of: key)).rows(WaitingRows.state).first
        }
    }

    public func actions(on key: SubmissionKey) async throws(LedgerError) -> [OperatorAction] {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(OperatorRows.actions(on: key)).rows(OperatorRows.action)
        }
    }

    public func counts() async throws(LedgerError) -> LedgerCounts {
        try await pool.run { connection throws(PostgresFailure) in
            let commands =
                Self.counting.map { PostgresCommand(PostgresStatement(once: $0)) } + [Self.countingUnpublished]
            // What counts whole tables reads them whole, against what the connection is set to.
            let first = [PostgresCommand(.begin), PostgresCommand(Self.readingWholeTables)]
            let results = Array(try connection.commit(first + commands).dropFirst(first.count))
            guard results.count == commands.count else { throw .lost("unexpected answer") }
            return LedgerCounts(
                submissions: try Self.counts(results[0]), failures: try Self.counts(results[1]),
                grants: try Self.count(results[2]), quarantined: try Self.count(results[3]),
                unpublished: try Self.count(results[5]), openDeliveries: try Self.count(results[4]))
        }
    }

    private static let readingWholeTables = PostgresStatement(once: "SET LOCAL enable_seqscan = on")

    private static let counting = [
        "SELECT outcome, count(*) FROM submissions GROUP BY outcome",
        "SELECT reason, count(*) FROM submissions WHERE outcome = 'failed' GROUP BY reason",
        "SELECT count(*) FROM grants",
        "SELECT count(*) FROM quarantines",
        "SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL",
    ]

    static let countingUnpublished = PostgresCommand(
        PostgresStatement(
            once: """
                SELECT (SELECT count(*) FROM withheld)
                    + (SELECT count(*) FROM outbox WHERE sequence > (SELECT published_through FROM outbox_relay))
                """))

    private static func pageSize(_ limit: Int) -> Int {
        min(max(limit, 0), maxPage)
    }

    static func count(_ result: PostgresResult) throws(PostgresFailure) -> Int {
        try result.rows { row throws(PostgresFailure) in Int(try row.integer(0)) }.first ?? 0
    }

    private static func counts<Word: RawRepresentable<String> & Hashable>(
        _ result: PostgresResult
    ) throws(PostgresFailure) -> [Word: Int] {
        let rows = try result.rows { row throws(PostgresFailure) in (try row.word(0) as Word, Int(try row.integer(1))) }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}
