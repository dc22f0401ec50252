public import Contract
public import Ledger

extension PostgresLedger {
    public func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? {
        try read { (_) throws(PostgresFailure) in try connection.decided.span(of: table) }
    }

    public func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? {
        try read { (_) throws(PostgresFailure) in try connection.decided.first(in: table, places) }
    }

    public func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage {
        let (rows, answering) = try read { (_) throws(PostgresFailure) in
            let rows = try connection.decided.rows(query)
            return (rows, try connection.grants.holders(rows.answering))
        }
        return EventPage(rows, of: query, answering: answering)
    }

    // MARK: Import

    public func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] {
        guard let partition = grants.first?.origin.topicPartition else { return [] }
        func results(_ isNew: [Bool]) throws(PostgresFailure) -> [ImportResult?] {
            try GrantImport.results(grants, isNew: isNew) { questions throws(PostgresFailure) in
                try connection.grants.holders(questions)
            }
        }
        guard !isTrial else {
            return try read { (_) throws(PostgresFailure) in try results(grants.map { _ in false }).map { $0 ?? .new } }
        }
        return try write { (_) throws(PostgresFailure) in
            let numbers = try connection.partitions.number(making: partition)
            let isNew = try GrantImport.insert(grants) { rows throws(PostgresFailure) in
                try connection.grants.insert(rows, partitions: numbers)
            }
            let found = try results(isNew)
            let faulty = GrantImport.refusedForNothing(grants, found)
            try connection.grants.explain(faulty, partitions: numbers)
            guard faulty.isEmpty else {
                throw .again("a grant is refused, and no row has its keys")
            }
            return found.compactMap(\.self)
        }
    }

    // MARK: Retention

    public func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int {
        if isTrial {
            return try read { (_) throws(PostgresFailure) in try connection.answers.count(places, before: before) }
        }
        return try write { (_) throws(PostgresFailure) in try connection.answers.delete(places, before: before) }
    }

    // MARK: Erasure

    public func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult {
        guard let note else {
            return try read { (_) throws(PostgresFailure) in try find(erasure).result }
        }
        return try write { (now) throws(PostgresFailure) in
            let found = try find(erasure)
            guard case .done(let rows) = found.result, found.hasRows else { return found.result }
            try connection.grants.erase(found.erased)
            try connection.answers.delete(found.answers.map(\.sequence))
            try connection.actions.rename(found.former, erasure.pseudonyms)
            try connection.actions.add(.erase, erasure.named(note, now: now), on: nil)
            return .done(rows)
        }
    }

    private func find(_ erasure: Erasure) throws(PostgresFailure) -> FoundErasure {
        return try FoundErasure(erasure) { query throws(PostgresFailure) in
            try connection.rows(connection.grants.page(query))
        } count: { () throws(PostgresFailure) in
            try connection.grants.count(of: erasure.userID, erasure.bundleID)
        } list: { query throws(PostgresFailure) in
            try page(query).map { page throws(PostgresFailure) in try connection.rows(page) } ?? []
        } owed: { keys throws(PostgresFailure) in
            try connection.outbox.rows(keys)
        } partitions: { () throws(PostgresFailure) in
            try connection.ask(connection.partitions.all)
        } actions: { keys throws(PostgresFailure) in
            try connection.actions.count(keys)
        }
    }
}
