import GRDB
public import Purchases

/// Pages hold at most ``SQLiteLedger/maxPage`` rows, however many are asked for.
extension SQLiteLedger: LedgerReader {
    public func submissions(
        _ filter: SubmissionFilter, before: Int64?, limit: Int
    ) async throws(LedgerError) -> [SubmissionRow] {
        try await read {
            try SubmissionTable($0).page(filter, before: before, limit: Self.pageSize(limit))
        }
    }

    public func grants(_ filter: GrantFilter, before: Int64?, limit: Int) async throws(LedgerError) -> [GrantRow] {
        try await read { try GrantTable($0).page(filter, before: before, limit: Self.pageSize(limit)) }
    }

    public func events(_ ids: [EventID]) async throws(LedgerError) -> [EventRow] {
        try await read { try OutboxTable($0).events(ids) }
    }

    public func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [EventRow] {
        try await read { try OutboxTable($0).events(after: sequence, limit: Self.pageSize(limit)) }
    }

    public func waiting(_ key: SubmissionKey) async throws(LedgerError) -> WaitingState? {
        try await read { try WaitingTable(database: $0).state(of: key) }
    }

    public func actions(on key: SubmissionKey) async throws(LedgerError) -> [OperatorAction] {
        try await read { try OperatorTable(database: $0).actions(on: key) }
    }

    public func counts() async throws(LedgerError) -> LedgerCounts {
        try await read { database in
            LedgerCounts(
                submissions: try Self.counts(
                    database, "SELECT outcome, count(*) FROM submissions GROUP BY outcome"),
                failures: try Self.counts(
                    database, "SELECT reason, count(*) FROM submissions WHERE outcome = 'failed' GROUP BY reason"),
                grants: try Self.count(database, "SELECT count(*) FROM grants"),
                quarantined: try Self.count(database, "SELECT count(*) FROM quarantines"),
                unpublished: try Self.unpublished(database),
                openDeliveries: try DeliveryTable(database: database).counts().open)
        }
    }

    static func unpublished(_ database: Database) throws -> Int {
        try count(
            database,
            """
            SELECT (SELECT count(*) FROM withheld)
                + (SELECT count(*) FROM outbox WHERE sequence > (SELECT published_through FROM relay))
            """)
    }

    private static func pageSize(_ limit: Int) -> Int {
        min(max(limit, 0), maxPage)
    }

    private static func count(_ database: Database, _ sql: String) throws -> Int {
        Int(try PreparedStatement(sql, on: database).rows({ _ in }) { $0.integer(0) }.first ?? 0)
    }

    private static func counts<Word: RawRepresentable<String> & Hashable>(
        _ database: Database, _ sql: String
    ) throws -> [Word: Int] {
        let rows = try PreparedStatement(sql, on: database).rows({ _ in }) { row in
            (try row.word(0) as Word, Int(row.integer(1)))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}
