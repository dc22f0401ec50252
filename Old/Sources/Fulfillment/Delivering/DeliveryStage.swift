import Ledger
import Logging
import Metrics
import Purchases

/// Tells inventory services of grants, and publishes what they were told: makes the calls that the ``DeliveryDesk`` names,
/// writes what came of them, and takes from the ledger what nobody has. Nothing else waits for it.
struct DeliveryStage: Sendable {
    /// How long a worker that is heard of no more keeps what it has.
    static let lease: Duration = .seconds(30)
    /// How often the lease is renewed.
    static let beat: Duration = .seconds(10)
    /// How often the ledger is asked for what is due: at most, and while there was as much as wanted.
    static let restInterval: Duration = .seconds(1)
    static let busyInterval: Duration = .milliseconds(50)
    /// What waits while the ledger is away, for the log.
    private static let waiting = "deliveries wait"

    let parts: PipelineParts
    let access: InventoryAccess
    let services: [BundleID: InventoryService]
    let worker: WorkerID
    let board: DeliveryBoard
    let metrics = DeliveryMetrics()

    /// A stage for the apps that have an inventory service; nil if none has, and then nothing of it costs anything.
    init?(parts: PipelineParts, apps: AppRegistry, access: InventoryAccess?, worker: WorkerID) {
        guard let access else { return nil }
        let served = apps.all.compactMap { registered in registered.inventory.map { (registered.app.bundleID, $0) } }
        guard !served.isEmpty else { return nil }
        self.parts = parts
        self.access = access
        self.worker = worker
        services = Dictionary(uniqueKeysWithValues: served)
        board = DeliveryBoard(
            DeliveryDesk(
                served.map { (bundleID: $0, maxInFlight: $1.maxInFlight) }, policy: parts.configuration.deliveries),
            worker: worker, clock: parts.clock, randomness: parts.randomness)
    }

    /// Runs until the worker stops, all calls have ended, and what came of them is in the ledger.
    ///
    /// - Throws: what will not pass by waiting.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await callAll() }
            group.addTask { try await reportAll() }
            group.addTask { try await lookAll() }
            group.addTask {
                await parts.stopping.wait()
                board.close()
            }
            try await group.untilAllEndOrOneFails()
        }
    }

    private func callAll() async {
        await withDiscardingTaskGroup { group in
            while let call = await board.next() {
                group.addTask { await make(call) }
            }
        }
    }

    private func make(_ call: DeliveryDesk.Call) async {
        let delivery = call.delivery
        guard let service = services[delivery.bundleID] else { return }
        let started = parts.clock.elapsed()
        let reply = await access.endpoint.tell(DeliveryRequest(delivery, to: service, now: parts.clock.now()))
        let answer = DeliveryAnswer(reply, to: delivery.grantID, now: parts.clock.now())
        let took = parts.clock.elapsed() - started
        metrics.called(answer, took: took)
        board.ended(call, answer, took: took)
        if case .failed(let failure, let status, _) = answer { note(failure, status, delivery) }
    }

    private func note(_ failure: DeliveryFailure, _ status: Int?, _ delivery: Delivery) {
        let kind = "delivery.\(failure.rawValue).\(delivery.bundleID)"
        guard let count = parts.alerts.count(kind, at: parts.clock.elapsed()) else { return }
        parts.logger.warning(
            "An inventory service was not told of a grant, and will be called again",
            metadata: [
                "cause": "\(failure.rawValue)", "detail": "\(failure.sentence(status))",
                "bundleId": "\(delivery.bundleID)", "grantId": "\(delivery.grantID)", "calls": "\(count)",
            ])
    }

    /// Writes what came of calls, however long it takes: until then the deliveries stay this worker's.
    private func reportAll() async throws {
        while let reports = await board.takeReports() {
            var failures = 0
            while true {
                do throws(LedgerError) {
                    parts.added.put(try await access.room.report(reports, worker, now: parts.clock.now()))
                    break
                } catch {
                    guard case .unavailable(let cause) = error else { throw error }
                    failures += 1
                    parts.tell(unavailable: cause, Self.waiting)
                    try await parts.pause(afterFailures: failures)
                }
            }
            board.written(reports)
        }
    }

    private func lookAll() async throws {
        var beatDue = parts.clock.elapsed() + Self.beat
        var interval = Self.busyInterval
        while await parts.pause(for: interval) {
            let elapsed = parts.clock.elapsed()
            if elapsed >= beatDue {
                beatDue = elapsed + Self.beat
                try await keep()
            }
            interval = try await look() ? Self.busyInterval : Self.restInterval
            metrics.report(board.summary)
            for change in board.takeChanges() { tell(change) }
        }
    }

    private func keep() async throws {
        let held = board.held
        guard !held.isEmpty else { return }
        try await orLater {
            try await access.room.keepDeliveries(held, worker, for: Self.lease, now: parts.clock.now())
        }
    }

    /// - Returns: whether there was as much as wanted.
    private func look() async throws -> Bool {
        let shares = board.shares
        guard !shares.isEmpty else { return false }
        var taken: [Delivery] = []
        try await orLater {
            taken = try await access.room.takeDeliveries(worker, shares, for: Self.lease, now: parts.clock.now())
        }
        board.add(taken)
        let counts = Dictionary(taken.map { ($0.bundleID, 1) }, uniquingKeysWith: +)
        return shares.contains { counts[$0.bundleID] ?? 0 >= $0.limit }
    }

    private func orLater(_ action: () async throws -> Void) async throws {
        _ = try await parts.orLater(Self.waiting, action)
    }

    private func tell(_ change: DeliveryDesk.Change) {
        let metadata: Logger.Metadata = ["bundleId": "\(change.bundleID)"]
        if change.isTroubled {
            parts.logger.warning(
                "An inventory service is in trouble; deliveries wait and are not counted as attempts",
                metadata: metadata)
        } else {
            parts.logger.notice("An inventory service answers again; all calls are made", metadata: metadata)
        }
    }
}
