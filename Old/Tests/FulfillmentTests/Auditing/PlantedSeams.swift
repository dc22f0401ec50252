import Fulfillment
import Ledger
import Purchases
import Synchronization

/// A source with a mistake in how it keeps offsets.
final class MistakenSource: SubmissionSource {
    enum Mistake {
        /// Offsets are committed as soon as records are read, before they have a fate.
        case commitsOnReading
        /// One record too many is committed.
        case countsOneTooMany
    }

    private let source: any SubmissionSource
    private let mistake: Mistake
    private let epoch = Mutex<UInt64>(0)

    init(source: any SubmissionSource, mistake: Mistake) {
        self.source = source
        self.mistake = mistake
    }

    func next(maxRecords: Int, maxBytes: Int) async throws(SourceError) -> SourceEvent? {
        let event = try await source.next(maxRecords: maxRecords, maxBytes: maxBytes)
        if case .assigned(_, let epoch) = event { self.epoch.withLock { $0 = epoch } }
        if mistake == .commitsOnReading, case .records(let records) = event, let last = records.last {
            let watermark = Watermark(offset: last.offset + 1, epoch: epoch.withLock { $0 })
            try await source.store([last.partition: watermark])
        }
        return event
    }

    func store(_ offsets: [TopicPartition: Watermark]) async throws(SourceError) {
        guard mistake == .countsOneTooMany else { return }
        try await source.store(offsets.mapValues { Watermark(offset: $0.offset + 1, epoch: $0.epoch) })
    }

    func pause() async throws(SourceError) { try await source.pause() }
    func resume() async throws(SourceError) { try await source.resume() }
    var signsOfLife: [UInt64] { source.signsOfLife }
    func close(within limit: Duration) async { await source.close(within: limit) }
}

/// A sink with a mistake in how it publishes.
final class MistakenSink: EventSink {
    enum Mistake {
        /// Events count as published before the broker has reported them, and one never arrives.
        case believesBeforeTheReport
        /// A copy is made anew instead of being sent as it was.
        case writesCopiesAnew
        /// The first event is sent after one that follows it.
        case sendsOutOfOrder
    }

    private let sink: any EventSink
    private let mistake: Mistake
    private let state = Mutex((lost: EventID?.none, known: Set<EventID>(), late: [Event]()))

    init(_ sink: any EventSink, _ mistake: Mistake) {
        self.sink = sink
        self.mistake = mistake
    }

    func publish(_ events: [Event]) async -> [Bool] {
        let sent = state.withLock { state in
            switch mistake {
            case .believesBeforeTheReport:
                state.lost = state.lost ?? events.first { $0.kind == .granted }?.id
                return events.filter { $0.id != state.lost }
            case .writesCopiesAnew:
                return events.map { event in
                    guard !state.known.insert(event.id).inserted else { return event }
                    return Event(
                        id: event.id, kind: event.kind, key: event.key, headers: event.headers,
                        value: event.value.map { $0 + [UInt8(ascii: " ")] })
                }
            case .sendsOutOfOrder:
                guard state.known.isEmpty, let index = events.firstIndex(where: { $0.kind == .granted }) else {
                    defer { state.late = [] }
                    return events + state.late
                }
                state.known.insert(events[index].id)
                state.late = [events[index]]
                return Array(events[..<index] + events[(index + 1)...])
            }
        }
        _ = await sink.publish(sent)
        return events.map { _ in true }
    }
}

/// A ledger with a mistake in what it stores, or in what it tells the publisher.
struct MistakenLedger: LedgerStore, WaitingRoom {
    enum Mistake {
        /// The transaction is reported as done, its events are published, and then it is lost.
        case loses(into: any PipelineLedger)
        /// Nobody is told of what was added to the outbox.
        case losesWakeUps
        /// A quarantined record loses its last byte.
        case cutsQuarantined
    }

    let ledger: any PipelineLedger
    let mistake: Mistake

    func recorded(_ keys: [SubmissionKey]) async throws(LedgerError) -> [SubmissionKey: RecordedSubmission] {
        try await ledger.recorded(keys)
    }

    func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> SettleResult {
        switch mistake {
        case .loses(let other): return try await other.settle(settlements, quarantines: quarantines, now: now)
        case .losesWakeUps:
            let result = try await ledger.settle(settlements, quarantines: quarantines, now: now)
            return SettleResult(outcomes: result.outcomes, added: [])
        case .cutsQuarantined:
            let cut = quarantines.map { quarantine in
                let event = quarantine.event
                return Quarantine(
                    origin: quarantine.origin, reason: quarantine.reason,
                    event: Event(
                        id: event.id, kind: event.kind, key: event.key, headers: event.headers,
                        value: event.value.map { Array($0.dropLast()) }))
            }
            return try await ledger.settle(settlements, quarantines: cut, now: now)
        }
    }

    func takeRelay(
        _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> RelayTurn? {
        try await ledger.takeRelay(worker, for: lease, now: now)
    }

    func outbox(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        if case .losesWakeUps = mistake { return [] }
        return try await ledger.outbox(after: sequence, limit: limit)
    }

    func published(
        _ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> Bool {
        if case .loses = mistake { return true }
        return try await ledger.published(note, by: worker, for: lease, now: now)
    }

    func leaveRelay(_ worker: WorkerID) async throws(LedgerError) {
        try await ledger.leaveRelay(worker)
    }

    func takeDue(
        _ worker: WorkerID, limit: Int, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [DueSubmission] {
        try await ledger.takeDue(worker, limit: limit, for: lease, now: now)
    }

    func keepDue(
        _ worker: WorkerID, _ keys: [SubmissionKey], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {
        try await ledger.keepDue(worker, keys, for: lease, now: now)
    }

    func giveBackDue(_ worker: WorkerID, now: Timestamp) async throws(LedgerError) {
        try await ledger.giveBackDue(worker, now: now)
    }

    func backlog() async throws(LedgerError) -> LedgerBacklog {
        try await ledger.backlog()
    }
}
