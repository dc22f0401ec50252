public import Contract
public import Ledger

extension ModelConnection {
    public func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? {
        let rows = decided(in: table)
        guard let first = rows.first?.place, let last = rows.last?.place else { return nil }
        return first...last
    }

    public func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? {
        decided(in: table).first { places.contains($0.place) && !isImported($0) }.map(decidedAt)
    }

    public func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage {
        let rows = query.table.map { decided(in: $0) } ?? []
        let found = rows.filter { row in
            let claimant = claimant(row)
            return query.places.contains(row.place) && isOf(query.state, row)
                && (query.bundleID == nil || claimant.bundleID == query.bundleID)
                && (query.userID == nil || claimant.userID == query.userID)
                && (query.submissionID == nil || claimant.submissionID == query.submissionID)
                && (query.from.map { decidedAt(row) >= $0 } ?? true)
                && (query.to.map { decidedAt(row) < $0 } ?? true)
        }.prefix(query.limit)
        let answering = FoundGrants(known: model.tables.holders(Array(found).answering))
        return EventPage(Array(found), of: query, answering: answering)
    }

    /// In the order of their places.
    private func decided(in table: DecidedTable) -> [DecidedRow] {
        switch table {
        case .grants:
            model.tables.grantRows.reversed().map {
                DecidedRow(place: $0.sequence, content: .grant(model.tables.stored($0.grant)))
            }
        case .answers:
            model.tables.answers.values.sorted { $0.sequence < $1.sequence }.map {
                DecidedRow(place: $0.sequence, content: .answer($0.answer))
            }
        }
    }

    private func isImported(_ row: DecidedRow) -> Bool {
        guard case .grant(let stored) = row.content else { return false }
        return stored.grant.verifiedBy == VerifiedBy.imported.rawValue
    }

    private func isOf(_ state: SubmissionState, _ row: DecidedRow) -> Bool {
        switch row.content {
        case .grant: state == .granted && !isImported(row)
        case .answer(.failed): state == .failed
        case .answer(.repeated): state == .repeated
        case .later: false
        }
    }

    private func claimant(_ row: DecidedRow) -> Claimant {
        switch row.content {
        case .grant(let stored): stored.grant.claimant
        case .answer(let answer): answer.claimant
        case .later: Claimant(submissionID: "", userID: "", bundleID: "", orderID: nil, traceparent: nil)
        }
    }

    private func decidedAt(_ row: DecidedRow) -> Timestamp {
        switch row.content {
        case .grant(let stored): stored.grant.grantedAt
        case .answer(.failed(let failure)): failure.failedAt
        case .answer(.repeated(let repeated)): repeated.answeredAt
        case .later: Timestamp(milliseconds: 0)
        }
    }

    public func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] {
        let isNew =
            isTrial
            ? grants.map { _ in false }
            : GrantImport.insert(grants) { rows in rows.map { model.tables.insert($0.grant) } }
        // Nothing but a row is in a grant's way here.
        return GrantImport.results(grants, isNew: isNew) { FoundGrants(known: model.tables.holders($0)) }.map {
            $0 ?? .new
        }
    }

    public func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int {
        let old = decided(in: .answers).filter { row in
            let key = claimant(row).submissionKey
            return places.contains(row.place) && decidedAt(row) < before
                && model.tables.outbox[.failed(key)] == nil
                && !model.tables.actions.contains { $0.submission == key }
        }
        if !isTrial { for row in old { model.tables.deleteAnswer(claimant(row).submissionKey) } }
        return old.count
    }

    public func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult {
        let tables = model.tables
        func places(of keys: [SubmissionKey]) -> [Int] {
            tables.actions.indices.filter { index in tables.actions[index].submission.map(keys.contains) ?? false }
        }
        let found = try FoundErasure(erasure) { query throws(LedgerError) in
            try grants(query)
        } count: { () throws(LedgerError) in
            try grants(GrantQuery(bundleID: erasure.bundleID, userID: erasure.userID, limit: .max)).count
        } list: { query throws(LedgerError) in
            try submissions(query)
        } owed: { keys throws(LedgerError) in
            try owed(keys)
        } partitions: { () throws(LedgerError) in
            try partitions()
        } actions: { keys throws(LedgerError) in
            places(of: keys).count
        }
        guard let note, case .done = found.result, found.hasRows else { return found.result }
        for grant in found.erased { model.tables.replace(grant) }
        for answer in found.answers { model.tables.deleteAnswer(answer.claimant.submissionKey) }
        for index in places(of: found.former) {
            let action = model.tables.actions[index]
            guard let key = action.submission else { continue }
            model.tables.actions[index] = OperatorAction(
                kind: action.kind,
                note: OperatorNote(actor: action.note.actor, reason: FoundErasure.reason, at: action.note.at),
                submission: SubmissionKey(
                    bundleID: key.bundleID, submissionID: erasure.pseudonyms.of(key.submissionID)))
        }
        model.tables.actions.append(
            OperatorAction(kind: .erase, note: erasure.named(note, now: Timestamp(milliseconds: now)), submission: nil))
        return found.result
    }
}
