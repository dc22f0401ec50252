public import Contract
public import Ledger

extension SQLiteLedger {
    public func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? {
        try read { (_) throws(StoreError) in try database.decided.span(of: table) }
    }

    public func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? {
        try read { (_) throws(StoreError) in try database.decided.first(in: table, places) }
    }

    public func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage {
        let (rows, answering) = try read { (_) throws(StoreError) in
            let rows = try database.decided.rows(query)
            return (rows, try database.grants.holders(rows.answering))
        }
        return EventPage(rows, of: query, answering: answering)
    }

    // MARK: Import

    public func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] {
        guard let partition = grants.first?.origin.topicPartition else { return [] }
        func results(_ isNew: [Bool]) throws(StoreError) -> [ImportResult?] {
            try GrantImport.results(grants, isNew: isNew) { questions throws(StoreError) in
                try database.grants.holders(questions)
            }
        }
        guard !isTrial else {
            return try read { (_) throws(StoreError) in try results(grants.map { _ in false }).map { $0 ?? .new } }
        }
        return try write { (_) throws(StoreError) in
            let number = try database.partitions.number(partition)
            let isNew = try GrantImport.insert(grants) { rows throws(StoreError) in
                try database.grants.insert(rows, isFast: false, partitions: [partition: number])
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
            return try read { (_) throws(StoreError) in try database.answers.count(places, before: before) }
        }
        return try write { (_) throws(StoreError) in try database.answers.delete(places, before: before) }
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
            try database.grants.erase(found.erased)
            try database.answers.delete(found.answers.map(\.sequence))
            try database.actions.rename(found.former, erasure.pseudonyms)
            try database.actions.add(.erase, erasure.named(note, now: now), on: nil)
            return .done(rows)
        }
    }

    private func find(_ erasure: Erasure) throws(StoreError) -> FoundErasure {
        return try FoundErasure(erasure) { query throws(StoreError) in
            try database.grants.page(query)
        } count: { () throws(StoreError) in
            try database.grants.count(of: erasure.userID, erasure.bundleID)
        } list: { query throws(StoreError) in
            try list(query)
        } owed: { keys throws(StoreError) in
            try database.outbox.rows(keys)
        } partitions: { () throws(StoreError) in
            try database.partitions.all()
        } actions: { keys throws(StoreError) in
            try database.actions.count(keys)
        }
    }
}
