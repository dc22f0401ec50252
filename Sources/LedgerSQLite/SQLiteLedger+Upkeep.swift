public import Contract
public import Ledger

extension SQLiteLedger {
    public func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? {
        try read { (_) throws(StoreError) in try DecidedRows(database: database).span(of: table) }
    }

    public func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? {
        try read { (_) throws(StoreError) in try DecidedRows(database: database).first(in: table, places) }
    }

    public func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage {
        let (rows, answering) = try read { (_) throws(StoreError) in
            let rows = try DecidedRows(database: database).rows(query)
            return (rows, try GrantTable(database: database).holders(rows.answering))
        }
        return EventPage(rows, of: query, answering: answering)
    }

    // MARK: Import

    public func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] {
        guard let partition = grants.first?.origin.topicPartition else { return [] }
        let table = GrantTable(database: database)
        func results(_ isNew: [Bool]) throws(StoreError) -> [ImportResult?] {
            try GrantImport.results(grants, isNew: isNew) { questions throws(StoreError) in
                try table.holders(questions)
            }
        }
        guard !isTrial else {
            return try read { (_) throws(StoreError) in try results(grants.map { _ in false }).map { $0 ?? .new } }
        }
        return try write { (_) throws(StoreError) in
            let number = try PartitionTable(database: database).number(partition)
            let isNew = try GrantImport.insert(grants) { rows throws(StoreError) in
                try table.insert(rows, isFast: false, partitions: [partition: number])
            }
            let results = try results(isNew).compactMap(\.self)
            guard results.count == grants.count else {
                throw .contradiction("a grant is refused, and no row has its keys")
            }
            return results
        }
    }

    // MARK: Retention

    public func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int {
        if isTrial {
            return try read { (_) throws(StoreError) in
                try AnswerTable(database: database).count(places, before: before)
            }
        }
        return try write { (_) throws(StoreError) in
            try AnswerTable(database: database).delete(places, before: before)
        }
    }

    // MARK: Erasure

    public func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult {
        guard let note else {
            return try read { (_) throws(StoreError) in try find(erasure).result }
        }
        // Pages that rows leave would keep their bytes.
        _ = try call { () throws(StoreError) in try database.number("PRAGMA secure_delete = ON") }
        return try write { (now) throws(StoreError) in
            let found = try find(erasure)
            guard case .done(let rows) = found.result, found.hasRows else { return found.result }
            try GrantTable(database: database).erase(found.erased)
            try AnswerTable(database: database).delete(found.answers.map(\.sequence))
            try ActionTable(database: database).rename(found.former, erasure.pseudonyms)
            try ActionTable(database: database).add(.erase, erasure.named(note, now: now), on: nil)
            return .done(rows)
        }
    }

    private func find(_ erasure: Erasure) throws(StoreError) -> FoundErasure {
        let grants = GrantTable(database: database)
        return try FoundErasure(erasure) { query throws(StoreError) in
            try grants.page(query)
        } count: { () throws(StoreError) in
            try grants.count(of: erasure.userID, erasure.bundleID)
        } list: { query throws(StoreError) in
            try list(query)
        } owed: { keys throws(StoreError) in
            try OutboxTable(database: database).rows(keys)
        } partitions: { () throws(StoreError) in
            try PartitionTable(database: database).all()
        } actions: { keys throws(StoreError) in
            try ActionTable(database: database).count(keys)
        }
    }
}
