public import Ledger
public import Logging
import Purchases
import Synchronization

/// The way of a submission, and the only place that knows its order:
///
///     source -> intake -> repeats -> verification -> settlement -> publishing
///                                                  |      |
///                                     deliveries <-+      +-> offsets
///
/// Deliveries are the one way round: grants of apps that have an inventory service are told there before their event goes on
/// to publishing.
///
/// An offset is committed only past records whose outcome is in the ledger. Publishing may lag behind; the outbox
/// makes it certain. Whatever instant the process dies at, a restart reads again what has no outcome, and the
/// ledger's unique keys turn work done twice into work done once.
public final class Pipeline: Sendable {
    private let parts: PipelineParts
    private let intake: IntakeStage
    private let repeats: RepeatStage
    private let watch: WatchStage
    private let verification: VerificationStage
    private let due: DueStage
    private let settlement: SettlementStage
    private let deliveries: DeliveryStage?
    private let deliveryWatch: DeliveryWatch?
    private let publisher: Publisher
    private let source: any SubmissionSource
    /// When it was first asked to end.
    private let stopAskedAt = Mutex<Duration?>(nil)

    /// Assembles a pipeline; nothing moves before ``run()``.
    ///
    /// - Parameters:
    ///   - worker: a name that no other pipeline has, ever.
    ///   - inventory: needed if any app has an inventory service, and if any ever had: what was left open is reported.
    public init(
        source: any SubmissionSource, sink: any EventSink, ledger: any PipelineLedger, appStore: any AppStoreEndpoint,
        worker: WorkerID, apps: AppRegistry, signatures: SignatureVerifiers, clock: any WorkerClock,
        randomness: any Randomness, inventory: InventoryAccess? = nil,
        configuration: PipelineConfiguration = PipelineConfiguration(), logger: Logger
    ) {
        let metrics = PipelineMetrics()
        let window = WindowGate(
            Window(maxCount: configuration.maxWindowCount, maxBytes: configuration.maxWindowBytes))
        let apple = AppleAvailability(
            targets: CallTarget.all(for: apps), policy: configuration.availability,
            mostCalls: configuration.maxInFlight, clock: clock, randomness: randomness, metrics: metrics.availability,
            logger: logger,
            onIntake: { isHeld in window.lower(to: isHeld ? configuration.outageWindowCount : nil) })
        parts = PipelineParts(
            configuration: configuration, clock: clock, randomness: randomness, metrics: metrics, logger: logger,
            stopping: Signal(),
            window: window,
            ledgerAnswers: Flag(true, onChange: { apple.ledger(answers: $0) }), apple: apple,
            progress: ProgressTracker())
        self.source = source
        intake = IntakeStage(parts: parts, source: source)
        repeats = RepeatStage(parts: parts, ledger: ledger)
        watch = WatchStage(parts: parts, source: source, signatures: signatures)
        verification = VerificationStage(
            parts: parts,
            verifier: Verifier(
                apps: apps, signatures: signatures, endpoint: appStore, apple: apple, clock: clock, metrics: metrics,
                alerts: parts.alerts, logger: logger))
        due = DueStage(parts: parts, ledger: ledger, worker: worker, verification: verification)
        deliveries = DeliveryStage(parts: parts, apps: apps, access: inventory, worker: worker)
        deliveryWatch = inventory.map { [parts, deliveries] in
            DeliveryWatch(parts: parts, room: $0.room, isAnyServed: deliveries != nil)
        }
        settlement = SettlementStage(
            parts: parts,
            settler: Settler(
                ledger: ledger, clock: clock, randomness: randomness, backoff: .ledger,
                metrics: metrics, logger: logger, answers: parts.ledgerAnswers, deliveries: deliveries?.board),
            source: source)
        publisher = Publisher(
            ledger: ledger, sink: sink, worker: worker, clock: clock, randomness: randomness,
            backoff: .ledger,
            metrics: metrics, logger: logger)
    }

    /// Runs until ``stop()``, then ends in order: intake first, then what is in flight, settlement, publishing, and
    /// the source last. What does not end within the stop limit is left for the next start.
    ///
    /// - Throws: ``SourceError``, or a `LedgerError` that waiting does not mend. The worker should end and be
    ///   started again by whoever supervises it. `CancellationError` when the task was cancelled.
    public func run() async throws {
        do {
            try await runStages()
        } catch {
            await source.close(within: closeLimit)
            throw error
        }
        await source.close(within: closeLimit)
    }

    /// Asks the pipeline to end; ``run()`` returns when it has. Harmless when called again.
    public func stop() {
        let isFirst = stopAskedAt.withLock { asked in
            defer { asked = asked ?? parts.clock.elapsed() }
            return asked == nil
        }
        if isFirst {
            parts.logger.notice(
                "Stopping: nothing new is begun, and what is under way has its time",
                metadata: [
                    "held": "\(parts.window.held.count)", "callsUnderWay": "\(parts.apple.status.inFlight)",
                    "seconds": "\(parts.configuration.stopLimit.components.seconds)",
                ])
        }
        parts.stopping.raise()
    }

    /// What the pipeline holds now, for health and progress displays.
    public var status: PipelineStatus {
        let held = parts.window.held
        let apple = parts.apple.status
        return parts.progress.withProgress { progress in
            PipelineStatus(
                partitions: progress.partitions, heldSubmissions: held.count, heldBytes: held.bytes,
                ledgerAnswers: parts.ledgerAnswers.isSet && parts.ledgerIsHeard.isSet,
                waitingForApple: apple.waiting, appleIsAway: apple.holdsIntake,
                sourceIsAlive: parts.sourceIsAlive.isSet, settledRecords: parts.settledCount.value,
                isStopping: parts.stopping.isRaised)
        }
    }

    /// How long the source may take to commit and leave its group, at least.
    private static let leastCloseLimit: Duration = .seconds(5)

    /// What the stages left of the stop's time: a group that is being divided anew can be left only when it is done.
    private var closeLimit: Duration {
        guard let asked = stopAskedAt.withLock({ $0 }) else { return Self.leastCloseLimit }
        return max(Self.leastCloseLimit, parts.configuration.stopLimit - (parts.clock.elapsed() - asked))
    }

    private enum Ended { case stages, limit }
    private enum Part { case line, beside }

    private func runStages() async throws {
        try await withThrowingTaskGroup(of: Ended.self) { group in
            group.addTask {
                try await self.runInOrder()
                return .stages
            }
            group.addTask {
                await self.parts.stopping.wait()
                try await self.parts.clock.sleep(for: self.parts.configuration.stopLimit)
                return .limit
            }
            if try await group.next() == .limit {
                parts.logger.warning("The stop limit is over; the rest is left for the next start")
            }
            group.cancelAll()
            // Cancelled stages end with cancellation, which is what was asked of them.
            while let ended = await group.nextResult() {
                if case .failure(let error) = ended, !(error is CancellationError) { throw error }
            }
        }
    }

    /// Intake serves the group's rebalances until the rest of the line has ended, so that a worker that takes its time
    /// to stop keeps nobody waiting.
    private func runInOrder() async throws {
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                try await self.intake.run()
                return .beside
            }
            group.addTask {
                await self.watch.run()
                return .beside
            }
            group.addTask {
                try await self.deliveryWatch?.run()
                return .beside
            }
            group.addTask {
                try await self.runLine()
                return .line
            }
            while let ended = try await group.next() {
                if ended == .line { group.cancelAll() }
            }
        }
    }

    /// Each stage ends when the one before it has ended and its own work is done.
    private func runLine() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.repeats.run() }
            group.addTask {
                defer { self.parts.settled.finish() }
                try await self.verify()
            }
            group.addTask {
                defer { self.parts.added.finish() }
                try await self.settleAndDeliver()
            }
            group.addTask { try await self.publisher.run(self.parts.added) }
            try await group.untilAllEndOrOneFails()
        }
    }

    /// What comes from the topic, and what was parked and is due.
    private func verify() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.due.run() }
            group.addTask { await self.verification.run() }
            try await group.untilAllEndOrOneFails()
        }
    }

    /// Both add to the outbox, and both end when the worker stops.
    private func settleAndDeliver() async throws {
        guard let deliveries else { return try await settlement.run() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.settlement.run() }
            group.addTask { try await deliveries.run() }
            try await group.untilAllEndOrOneFails()
        }
    }
}

/// What a pipeline holds at one moment.
public struct PipelineStatus: Hashable, Sendable {
    /// Partitions that are this worker's.
    public let partitions: [TopicPartition]
    /// Submissions read and not yet settled.
    public let heldSubmissions: Int
    /// Their records' bytes.
    public let heldBytes: Int
    /// Whether the ledger took what it was last given, and answers when it is asked.
    public let ledgerAnswers: Bool
    /// Calls to Apple that wait for their turn.
    public let waitingForApple: Int
    /// Whether all that is asked of Apple's production waits until Apple answers again.
    public let appleIsAway: Bool
    /// Whether the source shows signs of life; if not, only a restart helps.
    public let sourceIsAlive: Bool
    /// Records whose fate came into the ledger since the start.
    public let settledRecords: Int
    /// Whether it was asked to end.
    public let isStopping: Bool
}
