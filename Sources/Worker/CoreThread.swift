import Contract
import Glibc
import Kafka
import Metrics
import Processing
import Scheduling
import Threading

/// The drivers that the core's actions go to. Each takes one post a turn.
struct CorePorts: Sendable {
    let mail: Mailbox<CoreMail>
    let consumer: KafkaConsumerDriver
    let checkers: CheckerPool
    let apple: AppleDriver
    let fulfilment: FulfilmentDriver
    let writer: LedgerThread
    let side: LedgerThread
    let clock: LedgerClock
    let metrics: WorkerMetrics
    let activity: CoreActivity
    let alerts: AlertLog
    /// The core's last word.
    let stopped: @Sendable (StopReason) -> Void
}

/// The core's thread: it takes inputs, lets the core decide, and posts the actions. It only connects ports: decisions
/// of its own would be untested.
enum CoreThread {
    /// Turns come at least so often, as a sign of life.
    static let longestWait = Duration.seconds(5)
    /// Turns start at least this far apart under load, so that each has a batch to work on.
    static let pace = Duration.milliseconds(1)
    /// Metrics show the core as it was at most so long ago, while it takes turns.
    static let statusPause = Duration.seconds(1)

    /// - Parameter failed: Called if the producer cannot be made; then nothing runs.
    static func start(
        settings: CoreSettings, apps: AppsSnapshot, ports: CorePorts, producing: Producing,
        failed: @escaping @Sendable (String) -> Void
    ) throws(ThreadingError) -> OwnerThread {
        try OwnerThread(name: "core") {
            // The producer is confined to this thread, so it is born here.
            do throws(KafkaError) {
                let producer = try producing.producer(wake: ports.mail.wake)
                // Generations of take-overs must never come twice.
                run(WorkerCore(settings: settings, seed: .random(in: 0 ... .max)), apps, ports, producer)
            } catch {
                failed("Kafka: \(error)")
            }
        }
    }

    private static func run(
        _ core: consuming WorkerCore, _ apps: AppsSnapshot, _ ports: CorePorts, _ producer: EventProducer
    ) {
        var actions = Actions()
        var mail: [CoreMail] = [.input(.apps(apps))]
        var reports: [PublishReport] = []
        // How often each connection to the ledger was lost, as the core knows.
        var losses = (write: 0, side: 0)
        var statusAt = Instant.now
        while true {
            let now = Instant.now
            let wall = ports.clock.moment(of: .now)
            for message in mail {
                switch message {
                case .input(let input): core.handle(input, at: now, wall: wall, into: &actions)
                case .lost(.write, let count, let input):
                    losses.write = count
                    core.handle(input, at: now, wall: wall, into: &actions)
                case .lost(.side, let count, let input):
                    losses.side = count
                    core.handle(input, at: now, wall: wall, into: &actions)
                }
            }
            // Emptied before the wait, or evidence stays in memory while the core sleeps.
            mail.removeAll(keepingCapacity: true)
            producer.drainReports(into: &reports)
            if !reports.isEmpty {
                ports.metrics.published(reports) { core.age(of: $0, at: now) }
                core.handle(.published(reports), at: now, wall: wall, into: &actions)
            }
            reports.removeAll(keepingCapacity: true)
            core.endTurn(at: now, wall: wall, into: &actions)
            var carrier = Carrier(ports: ports, producer: producer, losses: losses)
            actions.handOver(to: &carrier)
            ports.activity.turned(at: now, isLedgerAway: core.isLedgerAway)
            ports.metrics.inFlight.set(core.inFlight)
            if statusAt <= now {
                ports.metrics.show(core.status)
                statusAt = now + statusPause
            }
            if let reason = actions.stop {
                producer.close()
                ports.mail.close()
                ports.stopped(reason)
                return
            }
            let wakeAt = [producer.needsTurn, actions.wakeAt].compactMap { $0 }.min()
            actions.removeAll()
            ports.mail.wake.wait(until: min(wakeAt ?? .distantFuture, now + longestWait))
            rest(since: now)
            ports.mail.takeAll(into: &mail)
            // The process ends without the core's last word: Kafka's client has failed.
            guard !ports.mail.isClosed else { return producer.close() }
        }
    }

    private static func rest(since start: Instant) {
        let left = (start + pace - .now).clampedNanoseconds
        guard left > 0 else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(left))
        nanosleep(&time, nil)
    }
}

/// Carries a turn's actions out: one post for each driver.
private struct Carrier: ActionTaker {
    let ports: CorePorts
    let producer: EventProducer
    /// Losses of the ledger's connections that the core knows.
    let losses: (write: Int, side: Int)

    func unassign(_ partitions: [TopicPartition]) { ports.consumer.unassign(partitions) }
    func fetchCommitted(_ partitions: [TopicPartition]) { ports.consumer.fetchCommitted(partitions) }
    func assign(_ assignments: [Assignment]) { ports.consumer.assign(assignments) }
    func commit(_ offsets: [CommittedOffset]) { ports.consumer.commit(offsets) }
    func demand(_ demand: Demand) { ports.consumer.demand(demand) }
    func check(_ tasks: [CheckTask]) { ports.checkers.post(tasks) }
    func ask(_ tasks: [AttemptTask]) { ports.apple.post(tasks) }
    func call(_ tasks: [CallTask]) { ports.fulfilment.post(tasks) }
    func write(_ batches: [WriteBatch]) { ports.writer.post(batches.map { .write($0) }, losses: losses.write) }
    func request(_ requests: [LedgerRequest]) { ports.side.post(requests.map { .request($0) }, losses: losses.side) }
    func alert(_ alerts: [Alert]) { ports.alerts.tell(alerts) }

    func publish(_ tasks: [PublishTask]) {
        for task in tasks { producer.publish(task) }
    }
}

/// A driver's message for the core's thread.
enum CoreMail: Sendable {
    case input(Input)
    /// A reply about a lost connection: from now on the core knows of so many losses of that connection. Its later
    /// calls carry the number, see ``LedgerThread``.
    case lost(LedgerRole, losses: Int, Input)
}

/// The two connections to the ledger, each on a thread of its own.
enum LedgerRole: String, Sendable, CaseIterable {
    case write
    case side
}
