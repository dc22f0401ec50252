import Ledger
import LedgerConformance
import Purchases

/// All that workers and people do to a ledger, at random, beside the model.
struct LedgerPlay {
    /// The first thing that a ledger did otherwise than the model.
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    let ledger: ConformanceRule.AnyLedger
    var model = NaiveLedger()
    /// Every event as it was seen first.
    var events: [EventID: Event] = [:]
    var actions: [SubmissionKey: [OperatorAction.Kind]] = [:]
    private var workload: LedgerWorkload
    private var now = Samples.noon
    private var steps = 0
    private var operation = "opening"
    /// The batch that was settled last.
    private var last: [Settlement] = []

    private static let note = OperatorNote(actor: "ann", reason: "x")

    init(_ ledger: ConformanceRule.AnyLedger, seed: UInt64) {
        self.ledger = ledger
        workload = LedgerWorkload(seed: seed)
    }

    func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) throws(Difference) {
        guard found != wanted else { return }
        throw Difference(
            description: "step \(steps), \(operation), \(what): found \(found), wanted \(wanted)")
    }

    /// Tells the first entry that differs: an outbox is long.
    func expect(_ found: [OutboxEntry]?, _ wanted: [NaiveOutbox.Entry]?, _ what: String) throws(Difference) {
        let found = found?.map { "\($0.sequence) \($0.event.id)" }
        let wanted = wanted?.map { "\($0.sequence) \($0.event)" }
        guard found != wanted else { return }
        let place = zip(found ?? [], wanted ?? []).prefix { $0 == $1 }.count
        try expect(found?.dropFirst(place).first, wanted?.dropFirst(place).first, "\(what), entry \(place)")
        try expect(found?.count, wanted?.count, "\(what), number of entries")
    }

    /// Notes an event's bytes, which never change from the first time that they are seen.
    mutating func see(_ event: Event) throws(Difference) {
        try expect(event, events[event.id] ?? event, "an event's bytes")
        events[event.id] = event
    }

    mutating func step() async throws {
        steps += 1
        now = now.advanced(by: .milliseconds(workload.number(1..<8000)))
        let worker = workload.worker()
        switch workload.number(0..<40) {
        case 0..<14: try await settle(again: workload.random.oneIn(6))
        case 14..<17: try await takeDue(worker)
        case 17: try await keepDue(worker)
        case 18: try await giveBackDue(worker)
        case 19..<21: try await retry()
        case 21: try await retryAll()
        case 22..<24: try await abandon()
        case 24..<27: try await takeDeliveries(worker)
        case 27: try await keepDeliveries(worker)
        case 28..<33: try await report(worker)
        case 33..<35: try await takeRelay(worker)
        case 35..<39: try await publish(worker)
        default: try await leaveRelay(worker)
        }
    }

    private mutating func settle(again: Bool) async throws {
        operation = "settle"
        // A commit whose answer was lost is settled again, at a later time.
        let batch = again ? last : workload.batch()
        last = batch
        let quarantines = workload.quarantines()
        let wanted = model.settle(batch, quarantines: quarantines, now: now)
        let result = try await ledger.settle(batch, quarantines: quarantines, now: now)
        for entry in result.added ?? [] { try see(entry.event) }
        for delivery in result.opened { try see(delivery.event) }
        try expect(result.outcomes, wanted.outcomes, "outcomes")
        try expect(result.added, wanted.added, "added")
        try expect(result.opened.map(\.event.id), wanted.opened, "opened")
    }

    private mutating func takeDue(_ worker: WorkerID) async throws {
        operation = "takeDue"
        let due = NaiveLedger.due(model.waiting, limit: workload.number(1..<8), now: now)
        let taken = try await ledger.takeDue(worker, limit: max(due.count, 1), for: LedgerWorkload.lease, now: now)
        try expect(Set(taken.map(\.key)), Set(due.map(\.key)), "taken")
        let keys = taken.map(\.key)
        try expect(keys.map { model.submissions[$0]?.place?.dueAt }, due.map(\.dueAt), "the longest due first")
        for one in taken {
            let submission = model.submissions[one.key]
            try expect(one.attempts, submission?.attempts, "tries")
            try expect(one.fingerprint, submission?.fingerprint, "fingerprint")
            try expect(one.cause, submission?.cause, "cause")
            try expect(one.claimant, submission?.claimant, "claimant")
            try expect(one.submission?.evidence, .receipt(base64: "c2VjcmV0"), "evidence")
            model.submissions[one.key]?.place = .init(dueAt: now.advanced(by: LedgerWorkload.lease), worker: worker)
        }
    }

    private mutating func keepDue(_ worker: WorkerID) async throws {
        operation = "keepDue"
        // Some that are this worker's, some that are not.
        let keys = workload.some(sorted(model.waiting.map(\.key))) + [workload.key()]
        try await ledger.keepDue(worker, keys, for: LedgerWorkload.lease, now: now)
        model.keepDue(worker, keys, until: now.advanced(by: LedgerWorkload.lease))
    }

    private mutating func giveBackDue(_ worker: WorkerID) async throws {
        operation = "giveBackDue"
        try await ledger.giveBackDue(worker, now: now)
        model.giveBackDue(worker, now: now)
    }

    private mutating func retry() async throws {
        operation = "retry"
        let key = anyKey()
        let wanted = model.retry(key, now: now)
        try expect(try await ledger.retry(key, Self.note, now: now), wanted, "\(key)")
        if wanted == .due { actions[key, default: []].append(.retry) }
    }

    private mutating func retryAll() async throws {
        operation = "retryAll"
        let cause = workload.cause()
        let bundleID = workload.random.oneIn(2) ? nil : workload.key().bundleID
        let count = try await ledger.retryAll(
            cause, bundleID: bundleID, perSecond: 1_000_000, Self.note, now: now)
        try expect(count, model.retryAll(cause, bundleID, now: now), "count")
    }

    private mutating func abandon() async throws {
        operation = "abandon"
        let key = anyKey()
        let waits = model.submissions[key]?.cause != nil
        try expect(try await ledger.abandon(key, Self.note, now: now), model.abandon(key, now: now), "\(key)")
        if waits { actions[key, default: []].append(.abandon) }
    }

    private mutating func takeDeliveries(_ worker: WorkerID) async throws {
        operation = "takeDeliveries"
        let deliveries = model.outbox.open.compactMap { id in model.outbox.deliveries[id].map { (id, $0) } }
        var due: [BundleID: [(key: EventID, dueAt: Timestamp)]] = [:]
        for bundleID in workload.some(LedgerWorkload.bundles) {
            let places = deliveries.filter { $0.1.bundleID == bundleID }.compactMap { id, one in
                one.place.map { (key: id, place: $0) }
            }
            due[bundleID] = NaiveLedger.due(places, limit: workload.number(1..<6), now: now)
        }
        let shares = LedgerWorkload.bundles.compactMap { bundleID in
            due[bundleID].map { DeliveryShare(bundleID: bundleID, limit: max($0.count, 1)) }
        }
        let taken = try await ledger.takeDeliveries(worker, shares, for: LedgerWorkload.lease, now: now)
        try expect(Set(taken.map(\.bundleID)), Set(due.filter { !$0.value.isEmpty }.keys), "apps")
        for (bundleID, due) in due {
            let taken = taken.filter { $0.bundleID == bundleID }
            try expect(Set(taken.map(\.event.id)), Set(due.map(\.key)), "taken")
            let places = taken.map { model.outbox.deliveries[$0.event.id]?.place?.dueAt }
            try expect(places, due.map(\.dueAt), "the longest due first")
        }
        for one in taken {
            try see(one.event)
            try expect(GrantedEvent.id(of: one.grantID), one.event.id, "grant")
            try expect(one.attempts, model.outbox.deliveries[one.event.id]?.attempts, "tries")
            model.outbox.deliveries[one.event.id]?.place = .init(
                dueAt: now.advanced(by: LedgerWorkload.lease), worker: worker)
        }
    }

    private mutating func keepDeliveries(_ worker: WorkerID) async throws {
        operation = "keepDeliveries"
        let events = workload.some(model.outbox.openings)
        try await ledger.keepDeliveries(events, worker, for: LedgerWorkload.lease, now: now)
        for id in events where model.outbox.deliveries[id]?.place?.worker == worker {
            model.outbox.deliveries[id]?.place?.dueAt = now.advanced(by: LedgerWorkload.lease)
        }
    }

    /// On deliveries that are this worker's, another's, nobody's or done, and on events that have none.
    private mutating func report(_ worker: WorkerID) async throws {
        operation = "report"
        var events = workload.some(model.outbox.open)
        events += workload.some(model.outbox.openings, oneIn: 20)
        events += workload.some(model.outbox.entries.suffix(5).map(\.event), oneIn: 10)
        events.shuffle(using: &workload.random)
        let reports = events.map { id in
            DeliveryReport(
                eventID: id, attempts: workload.number(1..<9), history: AttemptHistory(),
                end: workload.random.oneIn(2) ? .done : .again(after: .milliseconds(workload.number(0..<40_000))))
        }
        let added = try await ledger.report(reports, worker, now: now)
        for entry in added ?? [] { try see(entry.event) }
        try expect(added, model.outbox.report(reports, worker, now: now), "added")
    }

    /// Leases end at once or never: PostgreSQL's run by its own clock.
    private mutating func relayLease() -> Duration { workload.random.oneIn(3) ? .zero : .seconds(1_000_000) }

    private mutating func takeRelay(_ worker: WorkerID) async throws {
        operation = "takeRelay"
        let lease = relayLease()
        let turn = try await ledger.takeRelay(worker, for: lease, now: now)
        try expect(turn != nil, model.outbox.take(worker, for: lease, now: now), "turn")
        guard let turn else { return }
        try expect(turn.publishedThrough, model.outbox.publishedThrough, "through")
        let withheld = model.outbox.entries.filter { model.outbox.withheld.contains($0.sequence) }
        try expect(turn.withheld, withheld, "withheld")
    }

    private mutating func publish(_ worker: WorkerID) async throws {
        operation = "published"
        let outbox = model.outbox
        var note = RelayNote(
            through: Int64(workload.number(Int(outbox.publishedThrough)..<Int(outbox.lastSequence) + 1)))
        let passed = outbox.entries.map(\.sequence).filter { $0 > outbox.publishedThrough && $0 <= note.through }
        note.withhold = workload.some(passed, oneIn: 8)
        note.release = workload.some(outbox.withheld.sorted())
        let lease = relayLease()
        let noted = try await ledger.published(note, by: worker, for: lease, now: now)
        try expect(noted, model.outbox.published(note, by: worker, for: lease, now: now), "noted")
    }

    private mutating func leaveRelay(_ worker: WorkerID) async throws {
        operation = "leaveRelay"
        try await ledger.leaveRelay(worker)
        model.outbox.leave(worker)
    }

    /// Mostly one that waits, because nothing else can be retried or given up.
    private mutating func anyKey() -> SubmissionKey {
        let waiting = sorted(model.submissions.filter { $0.value.cause != nil }.map(\.key))
        guard !workload.random.oneIn(4), let key = waiting.randomElement(using: &workload.random) else {
            return workload.key()
        }
        return key
    }

    private func sorted(_ keys: [SubmissionKey]) -> [SubmissionKey] {
        keys.sorted {
            ($0.submissionID.rawValue, $0.bundleID.rawValue) < ($1.submissionID.rawValue, $1.bundleID.rawValue)
        }
    }
}
