import Contract
import Ledger

/// Turns rows of a ledger into facts. Rows come table by table, in the order of ``AuditedTable``.
struct RowFacts {
    let window: AuditWindow
    private(set) var owed: OwedEvents
    private(set) var counts = AuditReport.Counts()
    /// The findings that one row alone shows.
    private(set) var findings = Findings()
    /// The time of the oldest row that is not told for good.
    private(set) var oldestOpen: Timestamp?
    /// The time of the newest row.
    private(set) var newest = Timestamp(milliseconds: 0)
    private var bytes = AuditBytes()

    init(_ window: AuditWindow, owed: OwedEvents) {
        self.window = window
        self.owed = owed
    }

    mutating func take(_ row: AuditedRow, of table: AuditedTable, into spool: FactSpool) throws(AuditError) {
        switch row.content {
        case .grant(let grant):
            counts.grants += 1
            try outcome(of: grant.claimant.submissionKey, spool)
            let purchase = AuditKey(grant.reference, &bytes)
            try spool.add(Fact(purchase, .purchase, number: row.sequence))
            let step = owed.step(of: purchase)
            guard window.isInside(grant.grantedAt) else { return }
            if grant.isErased {
                // Its event has the former ids, which are not known any more.
                guard let key = AuditKey(GrantedEvent.id(of: grant.key.grantID)) else { return }
                return try spool.add(
                    Fact(key, .unknownRow, partition: EventTable.grants.rawValue, number: row.sequence))
            }
            // An imported purchase has no event, until a repeat of it asks for one.
            let state = grant.isImported ? .openRow : state(.grants, grant.origin, grant.grantedAt, step)
            try add(GrantedEvent.event(of: grant), state, .grants, row.sequence, spool)
        case .failure(let failure):
            counts.failures += 1
            let submission = AuditKey(submission: failure.claimant.submissionKey, &bytes)
            try spool.add(Fact(submission, .outcome))
            let step = owed.step(of: submission)
            guard window.isInside(failure.failedAt) else { return }
            let state = state(.answers, failure.origin, failure.failedAt, step)
            try add(FailedEvent.event(of: failure), state, .answers, row.sequence, spool)
        case .repeated(let repeated, let holder):
            counts.repeats += 1
            try outcome(of: repeated.claimant.submissionKey, spool)
            guard window.isInside(repeated.answeredAt) else { return }
            check(repeated, holder)
        case .waiting(let submission):
            counts.waiting += 1
            try outcome(of: submission, spool)
        case .owed: break
        case .later(let later):
            counts.later += 1
            if let later { try take(later, row.sequence, of: table, into: spool) }
        }
    }

    /// A row of which only its names are known. One in an environment that this version does not know has no event that
    /// could be found.
    private mutating func take(
        _ later: LaterRow, _ sequence: Int64, of table: AuditedTable, into spool: FactSpool
    ) throws(AuditError) {
        try outcome(of: later.claimant.submissionKey, spool)
        var id: EventID?
        if let reference = later.reference {
            let purchase = AuditKey(reference, &bytes)
            try spool.add(Fact(purchase, .purchase, number: sequence))
            _ = owed.step(of: purchase)
            id = later.key.map { GrantedEvent.id(of: $0.grantID) }
        } else if table == .answers {
            _ = owed.step(of: AuditKey(submission: later.claimant.submissionKey, &bytes))
            id = FailedEvent.id(bundleID: later.claimant.bundleID, submissionID: later.claimant.submissionID)
        }
        guard let event = id.flatMap({ AuditKey($0) }) else { return }
        let partition = table == .answers ? EventTable.answers : .grants
        try spool.add(Fact(event, .unknownRow, partition: partition.rawValue, number: sequence))
    }

    private mutating func outcome(of key: SubmissionKey, _ spool: FactSpool) throws(AuditError) {
        try spool.add(Fact(AuditKey(submission: key, &bytes), .outcome))
    }

    private mutating func state(
        _ table: EventTable, _ origin: Origin, _ decidedAt: Timestamp, _ step: OutboxStep?
    ) -> Fact.Kind {
        newest = max(newest, decidedAt)
        if let step {
            oldestOpen = min(oldestOpen ?? decidedAt, decidedAt)
            return step == .call ? .callOwedRow : .owedRow
        }
        guard window.isComplete(origin, decidedAt: decidedAt) else {
            counts.openRows += 1
            // One that came from elsewhere never will be complete, and keeps no later audit waiting.
            if origin.topic == window.input { oldestOpen = min(oldestOpen ?? decidedAt, decidedAt) }
            return .openRow
        }
        return window.mayBeGone(table, decidedAt) ? .goneRow : .row
    }

    private mutating func add(
        _ event: Event, _ state: Fact.Kind, _ table: EventTable, _ sequence: Int64, _ spool: FactSpool
    ) throws(AuditError) {
        // Every id that this version makes is one.
        guard let key = AuditKey(event.id) else { return }
        try spool.add(
            Fact(key, state, partition: table.rawValue, number: sequence, digest: bytes.content(of: event)))
    }

    /// A grant is there before an answer names it, and stays: one look is enough.
    private mutating func check(_ repeated: Repeat, _ holder: AuditedRow.AnsweringGrant) {
        let kind: Inconsistency.Kind
        switch holder {
        case .later: return
        case .missing: kind = .answerWithoutGrant
        case .there(let claimant):
            guard claimant.userID != repeated.claimant.userID || claimant.bundleID != repeated.claimant.bundleID else {
                return
            }
            kind = .answerOfAnotherUser
        }
        findings.add(
            Inconsistency(kind, claimant: repeated.claimant, reference: repeated.grant, place: repeated.origin))
    }
}
