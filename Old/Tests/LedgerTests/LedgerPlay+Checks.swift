import Ledger
import LedgerConformance
import Purchases

/// What a ledger holds in the end, with nothing of how it stores it, so that two ledgers can be compared.
struct LedgerContent: Equatable {
    var submissions: [SubmissionRow]
    var grants: [GrantRow]
    var events: [EventRow]
    var deliveries: [DeliveryRow]
    var quarantines: [QuarantineRow]
    var outbox: [OutboxEntry]
    var counts: LedgerCounts
}

extension LedgerPlay {
    /// After each step: figures, what of the outbox is to be published, in order, and what is open or waits.
    mutating func check() async throws {
        let submissions = Array(model.submissions.values)
        let counts = try await ledger.counts()
        try expect(counts.submissions, Self.count(submissions.map(\.outcome)), "submissions")
        try expect(counts.grants, model.grants.count, "grants")
        try expect(counts.quarantined, model.outbox.quarantined.count, "quarantined")
        try expect(counts.unpublished, model.outbox.unpublished, "unpublished")
        try expect(counts.openDeliveries, model.outbox.open.count, "open deliveries")
        let backlog = try await ledger.backlog()
        try expect(backlog.waiting, Self.count(submissions.compactMap(\.cause)), "waiting")
        try expect(backlog.firstDueAt, submissions.compactMap(\.place?.dueAt).min(), "first due")
        try expect(backlog.unpublished, model.outbox.unpublished, "backlog of the outbox")
        try expect(
            try await ledger.deliveryCounts(),
            DeliveryCounts(
                open: model.outbox.open.count,
                firstDueAt: model.outbox.deliveries.values.compactMap(\.place?.dueAt).min()), "deliveries")
        try await checkOutbox(after: model.outbox.publishedThrough)
    }

    private mutating func checkOutbox(after sequence: Int64) async throws {
        let outbox = try await ledger.outbox(after: sequence, limit: 10_000)
        try expect(outbox, model.outbox.entries.filter { $0.sequence > sequence }, "outbox")
        for entry in outbox { try see(entry.event) }
    }

    /// Now and then: every row, the whole outbox, and that every grant is told of exactly once.
    mutating func checkRows() async throws {
        try await checkOutbox(after: 0)
        for (key, submission) in model.submissions {
            let state = submission.place.map { WaitingState(dueAt: $0.dueAt, worker: $0.worker) }
            try expect(try await ledger.waiting(key), state, "\(key)")
            let kinds = try await ledger.actions(on: key).map(\.kind)
            try expect(kinds, actions[key] ?? [], "actions on \(key)")
        }
        let recorded = try await ledger.recorded(Array(model.submissions.keys) + [Samples.key("unknown")])
        try expect(
            recorded,
            model.submissions.mapValues { RecordedSubmission(fingerprint: $0.fingerprint, outcome: $0.outcome) },
            "recorded")
        let content = try await content()
        try expect(content.submissions.count, model.submissions.count, "submissions")
        for row in content.submissions {
            let key = SubmissionKey(bundleID: row.claimant.bundleID, submissionID: row.claimant.submissionID)
            let submission = model.submissions[key]
            try expect(row.outcome, submission?.outcome, "outcome of \(key)")
            try expect(row.claimant, submission?.claimant, "claimant of \(key)")
            try expect(row.eventIDs, submission?.answers, "answers of \(key)")
            try expect(row.attempts, submission?.attempts, "tries of \(key)")
            try expect(row.dueAt, submission?.place?.dueAt, "due time of \(key)")
        }
        try expect(content.grants.count, model.grants.count, "grants")
        for grant in content.grants {
            let owner = NaiveLedger.Grant(user: grant.claimant.userID, order: grant.claimant.orderID)
            try expect(owner, model.grants[grant.key], "owner of \(grant.key)")
        }
        try expect(content.events.map(\.event.id).sorted(), model.outbox.written.sorted(), "events, each once")
        let told = content.events.map(\.event).filter { $0.kind == .granted }.map(\.id) + model.outbox.open
        try expect(told.sorted(), content.grants.map(\.eventID).sorted(), "every grant is told of, or will be")
        try expect(content.deliveries.map(\.eventID), model.outbox.openings, "deliveries")
        for row in content.deliveries {
            let delivery = model.outbox.deliveries[row.eventID]
            try expect(row.bundleID, delivery?.bundleID, "app of a delivery")
            try expect(row.attempts, delivery?.attempts, "tries of a delivery")
            var place: NaiveLedger.Place?
            if case .open(let dueAt, let worker) = row.state { place = .init(dueAt: dueAt, worker: worker) }
            try expect(place, delivery?.place, "state of a delivery")
        }
    }

    /// Sequences of rows are left out: which of a batch's rows has the lower one is nobody's promise.
    func content() async throws -> LedgerContent {
        let snapshot = try await ledger.snapshot()
        let content = LedgerContent(
            submissions: try await snapshot.submissions(after: 0, limit: 1000).map(\.unnumbered)
                .sorted {
                    ($0.claimant.bundleID, $0.claimant.submissionID) < ($1.claimant.bundleID, $1.claimant.submissionID)
                },
            grants: try await snapshot.grants(after: 0, limit: 1000).map(\.unnumbered).sorted { $0.key < $1.key },
            events: try await ledger.events(after: 0, limit: 1000),
            deliveries: try await snapshot.deliveries(after: 0, limit: 1000).map(\.unnumbered),
            quarantines: try await snapshot.quarantines(after: 0, limit: 1000).map(\.unnumbered)
                .sorted { $0.origin.offset < $1.origin.offset },
            outbox: try await ledger.outbox(after: 0, limit: 10_000), counts: try await ledger.counts())
        await snapshot.close()
        return content
    }

    private static func count<Element: Hashable>(_ elements: [Element]) -> [Element: Int] {
        Dictionary(elements.map { ($0, 1) }, uniquingKeysWith: +)
    }
}

extension Array<EventID> {
    fileprivate func sorted() -> [EventID] { sorted { $0.rawValue < $1.rawValue } }
}

extension Set<EventID> {
    fileprivate func sorted() -> [EventID] { Array(self).sorted() }
}

extension SubmissionRow {
    fileprivate var unnumbered: SubmissionRow {
        SubmissionRow(
            sequence: 0, claimant: claimant, outcome: outcome, reason: reason, detail: detail, origin: origin,
            receivedAt: receivedAt, settledAt: settledAt, attempts: attempts, history: history, dueAt: dueAt,
            transactionID: transactionID, eventIDs: eventIDs)
    }
}

extension GrantRow {
    fileprivate var unnumbered: GrantRow {
        GrantRow(
            sequence: 0, grantID: grantID, key: key, claimant: claimant, granted: granted, verifiedBy: verifiedBy,
            grantedAt: grantedAt, eventID: eventID)
    }
}

extension DeliveryRow {
    fileprivate var unnumbered: DeliveryRow {
        DeliveryRow(
            sequence: 0, bundleID: bundleID, grantID: grantID, eventID: eventID, openedAt: openedAt, state: state,
            attempts: attempts, history: history)
    }
}

extension QuarantineRow {
    fileprivate var unnumbered: QuarantineRow {
        QuarantineRow(sequence: 0, eventID: eventID, origin: origin, reason: reason, quarantinedAt: quarantinedAt)
    }
}
