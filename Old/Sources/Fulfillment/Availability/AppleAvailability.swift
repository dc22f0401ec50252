import Logging
import Purchases
import Synchronization

/// ``CallAdmission`` as the tasks of the pipeline share it: every call to Apple asks here first.
final class AppleAvailability: Sendable {
    /// What waiting comes to.
    enum Turn: Hashable, Sendable {
        /// A call may be made. The permit has to be given back with ``AppleAvailability/ended(_:_:isRetry:took:)``, whatever
        /// becomes of the call.
        case permit(CallAdmission.Permit)
        /// The target has been away for so long, and enough others wait for it.
        case crowded(awayFor: Duration)
        /// There will be none: nothing begins any more, or it is not wanted any more.
        case never

        /// The permit, if there is one.
        var permit: CallAdmission.Permit? {
            if case .permit(let permit) = self { permit } else { nil }
        }
    }

    /// Called once.
    typealias Waiter = @Sendable (Turn) -> Void

    private struct State {
        var admission: CallAdmission
        var waiters: [CallerID: Waiter] = [:]
        /// Who lets time pass, and until when it sleeps; nil for a sleep without end.
        var keeper: (until: Duration?, task: CheckedContinuation<Void, Never>)?
        var holdsIntake = false
    }

    /// What is done once the lock is given back.
    private struct Consequences {
        var released: [(Waiter, Turn)] = []
        var keeper: CheckedContinuation<Void, Never>?
        var changes: [CallAdmission.Change] = []
    }

    private let state: Mutex<State>
    /// Names that were given out.
    private let callers = Atomic<UInt64>(0)
    private let clock: any WorkerClock
    private let randomness: any Randomness
    private let metrics: AvailabilityMetrics
    private let logger: Logger
    private let onIntake: @Sendable (_ isHeld: Bool) -> Void

    /// - Parameters:
    ///   - targets: all that will ever be called.
    ///   - mostCalls: most calls at once.
    ///   - onIntake: told when there is nothing to be gained from more submissions, and when there is again. Must not
    ///     call back.
    init(
        targets: [CallTarget], policy: AvailabilityPolicy, mostCalls: Int, clock: any WorkerClock,
        randomness: any Randomness, metrics: AvailabilityMetrics, logger: Logger,
        onIntake: @escaping @Sendable (_ isHeld: Bool) -> Void = { _ in }
    ) {
        state = Mutex(State(admission: CallAdmission(targets: targets, policy: policy, mostCalls: mostCalls)))
        self.clock = clock
        self.randomness = randomness
        self.metrics = metrics
        self.logger = logger
        self.onIntake = onIntake
    }

    /// Waits until a call may be made, the target's line is too crowded for who asks, the task is cancelled, or nothing begins
    /// any more.
    func turn(for target: CallTarget, _ lane: CallLine.Lane, _ asker: Asker) async -> Turn {
        let caller = newCaller(asker)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                permit(caller, for: target, lane) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            withdraw(caller, from: target, lane)
        }
    }

    /// A name for one wait, which ends it when that is not wanted any more.
    func newCaller(_ asker: Asker) -> CallerID {
        CallerID(rawValue: callers.add(1, ordering: .relaxed).newValue, for: asker)
    }

    /// Has `then` called once it is known what the waiting comes to: at once, or by whoever ends another call or lets time
    /// pass.
    func permit(
        _ caller: CallerID, for target: CallTarget, _ lane: CallLine.Lane, then: @escaping Waiter
    ) {
        change { state, consequences in
            // Under the lock, so that either this or who is told of the cancellation sees it.
            guard !Task.isCancelled else { return consequences.released.append((then, .never)) }
            let elapsed = clock.elapsed()
            if let permit = state.admission.permitAtOnce(for: target, lane, elapsed: elapsed) {
                return consequences.released.append((then, .permit(permit)))
            }
            if let awayFor = state.admission.isCrowded(target, for: caller.asker, elapsed: elapsed) {
                return consequences.released.append((then, .crowded(awayFor: awayFor)))
            }
            guard let admitted = state.admission.wait(caller, for: target, lane, elapsed: elapsed) else {
                return consequences.released.append((then, .never))
            }
            state.waiters[caller] = then
            Self.release(admitted, &state, &consequences)
        }
    }

    /// Ends a wait, with ``Turn/never``. Harmless when it is over.
    func withdraw(_ caller: CallerID, from target: CallTarget, _ lane: CallLine.Lane) {
        change { state, consequences in
            guard let waiter = state.waiters.removeValue(forKey: caller) else { return }
            state.admission.withdraw(caller, from: target, lane)
            consequences.released.append((waiter, .never))
        }
    }

    /// A call ended, or was not made.
    ///
    /// - Parameters:
    ///   - isRetry: whether it was made for a submission whose try before failed.
    ///   - took: how long the call itself took.
    func ended(_ permit: CallAdmission.Permit, _ outcome: CallOutcome, isRetry: Bool, took: Duration) {
        change { state, consequences in
            let admitted = state.admission.ended(
                permit, outcome, isRetry: isRetry, took: took, elapsed: clock.elapsed(), unit: randomness.unit)
            Self.release(admitted, &state, &consequences)
        }
    }

    /// The ledger went away or came back.
    func ledger(answers: Bool) {
        change { state, consequences in
            let admitted = state.admission.ledger(answers: answers, elapsed: clock.elapsed())
            Self.release(admitted, &state, &consequences)
        }
    }

    /// Nothing begins from now on: who waits is sent away.
    func close() {
        change { state, consequences in
            for id in state.admission.close() {
                if let waiter = state.waiters.removeValue(forKey: id) { consequences.released.append((waiter, .never)) }
            }
        }
    }

    /// Lets those go whose moment has come, until the task is cancelled.
    func keepTime() async {
        while !Task.isCancelled {
            let next = change { state, consequences in
                Self.release(state.admission.advance(to: clock.elapsed()), &state, &consequences)
                return state.admission.nextMoment
            }
            await sleep(until: next)
        }
    }

    /// Returns when the moment has come, or an earlier one is to be kept, or the task is cancelled.
    private func sleep(until moment: Duration?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForEarlier(than: moment) }
            if let moment {
                group.addTask {
                    // A cancelled sleep is the normal case: there was an earlier moment.
                    do { try await self.clock.sleep(for: max(.zero, moment - self.clock.elapsed())) } catch { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForEarlier(than moment: Duration?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard !Task.isCancelled, !Self.isDue(before: moment, state) else { return true }
                    state.keeper = (moment, continuation)
                    return false
                }
                if ready { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.keeper.take() }?.task.resume()
        }
    }

    private static func isDue(before moment: Duration?, _ state: State) -> Bool {
        guard let next = state.admission.nextMoment else { return false }
        return moment.map { next < $0 } ?? true
    }

    /// Whether a target's trouble is not quite over, so that a failed call says nothing about what it was made for.
    func isTroubled(_ target: CallTarget) -> Bool {
        state.withLock { $0.admission.isTroubled(target) }
    }

    /// What health and progress displays show.
    var status: AppleStatus {
        state.withLock { state in
            AppleStatus(
                waiting: state.admission.waiting, inFlight: state.admission.inFlight,
                away: state.admission.targets.filter(\.breaker.isAway).map(\.target), holdsIntake: state.holdsIntake,
                holdsDue: state.admission.holdsDue)
        }
    }

    /// Brings the gauges up to date.
    func report() {
        metrics.report(state.withLock { AvailabilityMetrics.Summary.of($0.admission.targets) })
    }

    private static func release(
        _ admitted: [CallAdmission.Admitted], _ state: inout State, _ consequences: inout Consequences
    ) {
        for admitted in admitted {
            guard let waiter = state.waiters.removeValue(forKey: admitted.id) else { continue }
            consequences.released.append((waiter, .permit(admitted.permit)))
        }
    }

    /// Changes the state under the lock, then does what follows from it without the lock.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout State, inout Consequences) -> Result) -> Result {
        var consequences = Consequences()
        let result = state.withLock { state in
            let result = body(&state, &consequences)
            for gone in state.admission.takeSentAway() {
                guard let waiter = state.waiters.removeValue(forKey: gone.id) else { continue }
                consequences.released.append((waiter, .crowded(awayFor: gone.awayFor)))
            }
            consequences.changes = state.admission.takeChanges()
            let holdsIntake = state.admission.holdsIntake
            if holdsIntake != state.holdsIntake {
                state.holdsIntake = holdsIntake
                // Under the lock, so that the last word is the last one heard.
                onIntake(holdsIntake)
            }
            if let keeper = state.keeper, Self.isDue(before: keeper.until, state) {
                state.keeper = nil
                consequences.keeper = keeper.task
            }
            return result
        }
        consequences.keeper?.resume()
        for change in consequences.changes { tell(change) }
        for (waiter, turn) in consequences.released { waiter(turn) }
        return result
    }

    private func tell(_ change: CallAdmission.Change) {
        var metadata: Logger.Metadata = [
            "service": "\(change.target.service.rawValue)", "environment": "\(change.target.environment.rawValue)",
            "waiting": "\(change.waiting)",
        ]
        if let bundleID = change.target.bundleID { metadata["bundleId"] = "\(bundleID)" }
        if let lasted = change.lasted {
            metadata["seconds"] = "\(lasted.components.seconds)"
            logger.notice("Apple answers again; all calls are made", metadata: metadata)
        } else {
            metrics.opened(change.target)
            metadata["calls"] = "\(change.recent.calls)"
            metadata["failures"] = "\(change.recent.failures)"
            metadata["slow"] = "\(change.recent.slow)"
            logger.warning("Apple is in trouble; calls wait and are not counted as attempts", metadata: metadata)
        }
        report()
    }
}

/// What the worker knows about Apple at one moment.
struct AppleStatus: Hashable, Sendable {
    /// Calls that wait for their turn.
    let waiting: Int
    /// Calls under way.
    let inFlight: Int
    /// Targets that are not called but for probes.
    let away: [CallTarget]
    /// Whether more submissions would only wait.
    let holdsIntake: Bool
    /// Whether what is due in the ledger would, too.
    let holdsDue: Bool
}
