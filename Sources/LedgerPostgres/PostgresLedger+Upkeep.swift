public import Contract
public import Ledger

extension PostgresLedger {
    public func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? {
        try read { (_) throws(PostgresFailure) in try DecidedRows(connection: connection).span(of: table) }
    }

    public func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? {
        try read { (_) throws(PostgresFailure) in try DecidedRows(connection: connection).first(in: table, places) }
    }

    public func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage {
        let (rows, answering) = try read { (_) throws(PostgresFailure) in
            let rows = try DecidedRows(connection: connection).rows(query)
            return (rows, try GrantTable(connection: connection).holders(rows.answering))
        }
        return EventPage(rows, of: query, answering: answering)
    }

    // MARK: Import

    public func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] {
        guard let partition = grants.first?.origin.topicPartition else { return [] }
        let table = GrantTable(connection: connection)
        guard !isTrial else {
            return try read { (_) throws(PostgresFailure) in
                let held = try table.holders(GrantImport.questions(grants))
                return GrantImport.results(grants, isNew: grants.map { _ in false }, held: held)
            }
        }
        return try write { (_) throws(PostgresFailure) in
            let numbers = try OwnershipTable(connection: connection).number(making: partition)
            let isNew = try table.insert(GrantImport.rows(grants), partitions: numbers)
            // Read after the insertion: who is in the way may not be visible to the refused statement.
            let refused = zip(grants, isNew).filter { !$0.1 }.map(\.0)
            let held = try table.holders(GrantImport.questions(refused))
            return GrantImport.results(grants, isNew: isNew, held: held)
        }
    }

    // MARK: Retention

    public func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int {
        if isTrial {
            return try read { (_) throws(PostgresFailure) in
                try AnswerTable(connection: connection).count(places, before: before)
            }
        }
        return try write { (_) throws(PostgresFailure) in
            try AnswerTable(connection: connection).delete(places, before: before)
        }
    }

    // MARK: Erasure

    public func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult {
        guard let note else {
            return try read { (_) throws(PostgresFailure) in try find(erasure).result }
        }
        return try write { (_) throws(PostgresFailure) in
            let found = try find(erasure)
            guard case .done(let rows) = found.result, found.hasRows else { return found.result }
            try GrantTable(connection: connection).erase(found.erased)
            try AnswerTable(connection: connection).delete(found.answers.map(\.sequence))
            try renameActions(found.former, erasure.pseudonyms)
            try add(.erase, erasure.named(note), on: nil)
            return .done(rows)
        }
    }

    private func find(_ erasure: Erasure) throws(PostgresFailure) -> FoundErasure {
        let (user, app, most) = (erasure.userID, erasure.bundleID, Erasure.most)
        func list(_ state: SubmissionState) -> SubmissionQuery {
            SubmissionQuery(state: state, bundleID: app, userID: user, limit: most)
        }
        let grants = try connection.rows(
            GrantTable(connection: connection).page(GrantQuery(bundleID: app, userID: user, limit: most)))
        let answers = AnswerTable(connection: connection)
        let retries = RetryTable(connection: connection)
        let lists = try connection.rows([
            answers.page(list(.failed)), answers.page(list(.repeated)), retries.page(list(.retrying)),
            retries.page(list(.held)),
        ])
        let (answered, waiting) = (Array(lists.prefix(2).joined()), lists.dropFirst(2).joined().count)
        let owed = try OutboxTable(connection: connection).rows(OutboxKey.owed(for: grants, answered)).count
        let keys = FoundErasure.submissions(grants, answered)
        return FoundErasure(
            erasure, grants: grants, answers: answered, actions: try countActions(keys), waiting: waiting, owed: owed)
    }

    private func countActions(_ keys: [SubmissionKey]) throws(PostgresFailure) -> Int {
        guard !keys.isEmpty else { return 0 }
        var columns = PostgresColumns(types: [.text, .text])
        for key in keys { columns.submission(key) }
        let statement = PostgresStatement(
            """
            SELECT count(*) FROM unnest($1::text[], $2::text[]) AS asked (s, a)
            JOIN operator_actions ON \(HashedIndex.condition("submission_id", "s")) AND app = a
            """
        ) { columns.add(to: &$0) }
        return try connection.run(statement).first?.int(0) ?? 0
    }

    /// A reason may name a person, so it goes, too.
    private func renameActions(_ keys: [SubmissionKey], _ pseudonyms: Pseudonyms) throws(PostgresFailure) {
        guard !keys.isEmpty else { return }
        var columns = PostgresColumns(types: [.text, .text, .text])
        for key in keys {
            columns.submission(key)
            columns.text(pseudonyms.of(key.submissionID))
        }
        _ = try connection.run(
            PostgresStatement(
                """
                UPDATE operator_actions SET submission_id = n, reason = '\(FoundErasure.reason)'
                FROM unnest($1::text[], $2::text[], $3::text[]) AS given (s, a, n)
                WHERE \(HashedIndex.condition("submission_id", "s")) AND app = a
                """
            ) { columns.add(to: &$0) })
    }
}
