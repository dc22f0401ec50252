import Ledger
import Purchases
import Synchronization

/// ``DeliveryDesk`` as the tasks of the pipeline share it: settlement puts deliveries here, and the stage calls for them.
final class DeliveryBoard: Sendable {
    private let desk: Mutex<DeliveryDesk>
    private let worker: WorkerID
    private let clock: any WorkerClock
    private let randomness: any Randomness
    /// Something may be called for.
    private let calls = Doorbell()
    /// Something may be reported.
    private let reports = Doorbell()

    init(_ desk: DeliveryDesk, worker: WorkerID, clock: any WorkerClock, randomness: any Randomness) {
        self.desk = Mutex(desk)
        self.worker = worker
        self.clock = clock
        self.randomness = randomness
    }

    /// How the grants of a submission that is about to be settled are told.
    ///
    /// - Returns: nil if the app has no inventory service.
    func order(_ settlement: Settlement) -> DeliveryOrder? {
        guard case .grant(let purchases, _) = settlement.decision else { return nil }
        let bundleID = settlement.claimant.bundleID
        return desk.withLock { desk in
            guard desk.isServed(bundleID) else { return nil }
            let isHeld = desk.promise(purchases.count, of: bundleID, elapsed: clock.elapsed())
            return isHeld ? .held(by: worker, for: DeliveryStage.lease) : .due
        }
    }

    /// A batch was settled, or never will be.
    ///
    /// - Parameters:
    ///   - settlements: all that ``order(_:)`` was asked about.
    ///   - opened: what came of their orders.
    func settled(_ settlements: [Settlement], opened: [Delivery]) {
        desk.withLock { desk in
            for settlement in settlements {
                guard case .held = settlement.delivery, case .grant(let purchases, _) = settlement.decision else {
                    continue
                }
                desk.settled(promised: purchases.count, of: settlement.claimant.bundleID)
            }
            desk.add(opened)
        }
        if !opened.isEmpty { calls.ring() }
        // Even where nothing was opened: a promise that is over may have been the last thing waited for.
        reports.ring()
    }

    /// Deliveries were taken from the ledger.
    func add(_ deliveries: [Delivery]) {
        guard !deliveries.isEmpty else { return }
        desk.withLock { $0.add(deliveries) }
        calls.ring()
        reports.ring()
    }

    /// Waits for a call that may be made; nil once none will be.
    func next() async -> DeliveryDesk.Call? {
        while !Task.isCancelled {
            let (call, moment, isClosed) = desk.withLock { desk in
                (desk.next(elapsed: clock.elapsed()), desk.nextMoment, desk.isClosed)
            }
            if let call { return call }
            guard !isClosed else { return nil }
            await rest(until: moment)
        }
        return nil
    }

    /// A call was answered, or given up.
    func ended(_ call: DeliveryDesk.Call, _ answer: DeliveryAnswer, took: Duration) {
        let now = clock.now()
        desk.withLock { desk in
            desk.ended(
                call, answer, took: took, elapsed: clock.elapsed(), now: now, unit: { randomness.unit() })
        }
        calls.ring()
        reports.ring()
    }

    /// Waits for something to tell the ledger; nil once there will be nothing. ``written(_:)`` is due for it.
    func takeReports() async -> [DeliveryReport]? {
        while !Task.isCancelled {
            let (taken, isFinished) = desk.withLock { desk in (desk.takeReports(), desk.isFinished) }
            if !taken.isEmpty { return taken }
            guard !isFinished else { return nil }
            await reports.wait()
        }
        return nil
    }

    /// Reports are in the ledger.
    func written(_ reports: [DeliveryReport]) {
        desk.withLock { $0.written(reports) }
        calls.ring()
    }

    /// No call begins from now on; those under way end.
    func close() {
        desk.withLock { $0.close() }
        calls.ring()
        reports.ring()
    }

    /// What is to be taken from the ledger.
    var shares: [DeliveryShare] { desk.withLock { $0.shares(elapsed: clock.elapsed()) } }

    /// The deliveries that are this worker's.
    var held: [EventID] { desk.withLock { $0.held } }

    /// What began or ended since this was last asked.
    func takeChanges() -> [DeliveryDesk.Change] { desk.withLock { $0.takeChanges(elapsed: clock.elapsed()) } }

    /// What is measured.
    var summary: DeliveryMetrics.Summary { desk.withLock { DeliveryMetrics.Summary($0) } }

    private func rest(until moment: Duration?) async {
        guard let moment else { return await calls.wait() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.calls.wait() }
            group.addTask {
                // A cancelled sleep is the normal case: it rang first.
                do { try await self.clock.sleep(for: max(.zero, moment - self.clock.elapsed())) } catch {}
            }
            await group.next()
            group.cancelAll()
        }
    }
}
