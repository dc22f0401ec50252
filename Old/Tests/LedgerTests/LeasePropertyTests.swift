import Ledger
import LedgerConformance
import Purchases
import Testing

/// What leases are held against: who has what until when, and nothing of a database.
private struct NaiveRoom {
    struct Place {
        var dueAt: Timestamp
        var worker: WorkerID?
        var attempts: Int
    }

    var places: [SubmissionID: Place] = [:]

    /// Due times of what a worker must get, the longest due first.
    func due(_ limit: Int, _ now: Timestamp) -> [Timestamp] {
        Array(places.values.map(\.dueAt).filter { $0 <= now }.sorted().prefix(limit))
    }

    mutating func change(heldBy worker: WorkerID, among ids: Set<SubmissionID>?, _ body: (inout Place) -> Void) {
        for (id, place) in places where place.worker == worker && ids?.contains(id) ?? true {
            var place = place
            body(&place)
            places[id] = place
        }
    }
}

/// Workers that take, keep, give back and forget what waits, beside the model.
private struct LeasePlay {
    static let workers: [WorkerID] = ["a", "b", "c"]
    static let lease: Duration = .seconds(30)

    let ledger: ConformanceRule.AnyLedger
    var random: SeededGenerator
    var room = NaiveRoom()
    var now = Samples.noon
    private var last = 0

    init(_ ledger: ConformanceRule.AnyLedger, seed: UInt64) {
        self.ledger = ledger
        random = SeededGenerator(seed: seed)
    }

    mutating func step() async throws {
        let worker = Self.workers.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5: try await park()
        case 5..<10: try await take(worker)
        case 10..<12: try await settle()
        case 12..<14: try await keep(worker)
        case 14:
            try await ledger.giveBackDue(worker, now: now)
            let moment = now
            room.change(heldBy: worker, among: nil) { $0 = .init(dueAt: moment, worker: nil, attempts: $0.attempts) }
        case 15: try await retry()
        default: now = now.advanced(by: .milliseconds(Int.random(in: 1...20_000, using: &random)))
        }
    }

    /// A new one, or one that waits again after another try, whoever has it.
    private mutating func park() async throws {
        var id = SubmissionID("s\(last + 1)")
        var attempts = 1
        if Bool.random(using: &random), let known = randomID() {
            id = known
            attempts = (room.places[known]?.attempts ?? 0) + 1
        } else {
            last += 1
        }
        let delay = Duration.milliseconds(Int.random(in: 0...60_000, using: &random))
        _ = try await ledger.settle(
            [Samples.parked(id, after: delay, attempts: attempts)], quarantines: [], now: now)
        room.places[id] = .init(dueAt: now.advanced(by: delay), worker: nil, attempts: attempts)
    }

    private mutating func take(_ worker: WorkerID) async throws {
        let limit = Int.random(in: 1...8, using: &random)
        let taken = try await ledger.takeDue(worker, limit: limit, for: Self.lease, now: now)
        let ids = taken.map(\.key.submissionID)
        try #require(Set(ids).count == ids.count)
        // Of several that are due since the same moment any may come.
        try #require(ids.compactMap { room.places[$0]?.dueAt } == room.due(limit, now))
        try #require(taken.map(\.attempts) == ids.map { room.places[$0]?.attempts }, "taking counts no try")
        for id in ids {
            room.places[id]?.dueAt = now.advanced(by: Self.lease)
            room.places[id]?.worker = worker
        }
    }

    private mutating func settle() async throws {
        guard let id = randomID() else { return }
        _ = try await ledger.settle([Samples.failure(id)], quarantines: [], now: now)
        room.places[id] = nil
    }

    private mutating func keep(_ worker: WorkerID) async throws {
        // Some that are this worker's, some that are not.
        let ids = Set(room.places.keys.sorted { $0.rawValue < $1.rawValue }.filter { _ in Bool.random(using: &random) })
        try await ledger.keepDue(worker, ids.map(Samples.key), for: Self.lease, now: now)
        let end = now.advanced(by: Self.lease)
        room.change(heldBy: worker, among: ids) { $0.dueAt = end }
    }

    private mutating func retry() async throws {
        guard let id = randomID() else { return }
        _ = try await ledger.retry(Samples.key(id), OperatorNote(actor: "ann", reason: "x"), now: now)
        if room.places[id]?.worker == nil { room.places[id]?.dueAt = now }
    }

    private mutating func randomID() -> SubmissionID? {
        room.places.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random)
    }

    func check() async throws {
        for (id, place) in room.places {
            let state = try await ledger.waiting(Samples.key(id))
            #expect(state == WaitingState(dueAt: place.dueAt, worker: place.worker), "\(id)")
        }
        let backlog = try await ledger.backlog()
        #expect(backlog.waiting.values.reduce(0, +) == room.places.count)
        #expect(backlog.firstDueAt == room.places.values.map(\.dueAt).min())
    }
}

@Suite struct LeasePropertyTests {
    private func play(_ ledger: ConformanceRule.AnyLedger, seed: UInt64, steps: Int) async throws {
        var play = LeasePlay(ledger, seed: seed)
        for step in 1...steps {
            try await play.step()
            if step % 200 == 0 { try await play.check() }
        }
        try await play.check()
    }

    @Test("leases are kept as the naive room keeps them, on SQLite", arguments: [1, 2, 3] as [UInt64])
    func sqlite(seed: UInt64) async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try await play(ledger, seed: seed, steps: 2000)
        try await ledger.close()
    }

    @Test("leases are kept as the naive room keeps them, on PostgreSQL", arguments: [4] as [UInt64])
    func postgres(seed: UInt64) async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        try await play(ledger, seed: seed, steps: 1000)
        await ledger.close()
    }
}
