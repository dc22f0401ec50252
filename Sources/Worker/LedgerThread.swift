import Configuration
import Contract
import Ledger
import Logging
import Processing
import Scheduling
import Synchronization
import Threading

/// One of the ledger's two connections, on its own thread.
///
/// A lost connection is made anew with the next call. The core learns of the loss from the call that met it, and takes
/// every partition over anew. Earlier calls were meant for the old connection, and the ledger behind the new one may
/// have been set back. So each call carries the number of losses that the core knew of. A call with an old number also
/// ends as lost, without being carried out.
final class LedgerThread: Sendable {
    /// Calls that wait: one batch for the connection that writes; for the other one a handful of each kind.
    static let maxCalls = 20_000

    enum Work: Sendable {
        case write(WriteBatch)
        case request(LedgerRequest)
    }

    struct Call: Sendable {
        let work: Work
        let losses: Int
    }

    private let calls: Mailbox<Call>
    private let thread: OwnerThread

    /// - Parameters:
    ///   - open: Makes a connection, on this thread.
    ///   - demandGroup: Throws `.unusable` once the ledger is another group's. It is called before each take-over and
    ///     sample: they show soonest that a person moved the ledger under its workers, and cost the least.
    init(
        _ role: LedgerRole, core: Mailbox<CoreMail>, clock: LedgerClock, metrics: WorkerMetrics, logger: Logger,
        open: @escaping @Sendable () throws(LedgerError) -> any LedgerConnection,
        demandGroup: @escaping @Sendable (any LedgerConnection) throws(LedgerError) -> Void
    ) throws(ThreadingError) {
        let calls = try Mailbox<Call>(bound: Self.maxCalls)
        self.calls = calls
        thread = try OwnerThread(name: "ledger-\(role.rawValue)") {
            var loop = Loop(
                role: role, calls: calls, core: core, clock: clock, metrics: metrics,
                decisionLog: DecisionLog(logger: logger), logger: logger, open: open, demandGroup: demandGroup)
            loop.run()
        }
    }

    func post(_ work: [Work], losses: Int) {
        calls.post(contentsOf: work.map { Call(work: $0, losses: losses) })
    }

    /// Ends the thread once the call under way is done, and waits for it.
    func stop() {
        calls.close()
        calls.wake.signal()
        thread.join()
    }

    private struct Loop {
        let role: LedgerRole
        let calls: Mailbox<Call>
        let core: Mailbox<CoreMail>
        let clock: LedgerClock
        let metrics: WorkerMetrics
        let decisionLog: DecisionLog
        let logger: Logger
        let open: @Sendable () throws(LedgerError) -> any LedgerConnection
        let demandGroup: @Sendable (any LedgerConnection) throws(LedgerError) -> Void
        var connection: (any LedgerConnection)?
        var losses = 0

        mutating func run() {
            var taken: [Call] = []
            while true {
                calls.wake.wait()
                calls.takeAll(into: &taken)
                for call in taken { carryOut(call) }
                taken.removeAll(keepingCapacity: true)
                if calls.isClosed { return }
            }
        }

        private mutating func carryOut(_ call: Call) {
            guard call.losses == losses else {
                let lost = LedgerError.disconnected(detail: "The connection was lost before.")
                return reply(call.work, .failure(lost), isLoss: true)
            }
            let start = Instant.now
            let result = perform(call.work)
            observe(call.work, result, took: .now - start)
            guard case .failure(.disconnected(let detail)) = result else {
                return reply(call.work, result, isLoss: false)
            }
            logger.warning(
                "The connection to the ledger is lost",
                metadata: ["connection": .text(role.rawValue), "detail": .text(detail)])
            connection = nil
            losses += 1
            reply(call.work, result, isLoss: true)
        }

        private mutating func perform(_ work: Work) -> Result<CallResult, LedgerError> {
            do throws(LedgerError) {
                if connection == nil { connection = try open() }
                guard let connection else { return .failure(.unavailable(detail: "There is no connection.")) }
                defer { clock.found(lead: connection.clockLead) }
                switch work {
                case .write(let batch): return .success(.results(try connection.write(batch.decisions)))
                case .request(let request):
                    switch request.call {
                    case .takeOver, .measure: try demandGroup(connection)
                    default: break
                    }
                    return .success(.request(try request.call.perform(on: connection)))
                }
            } catch {
                return .failure(error)
            }
        }

        private func observe(_ work: Work, _ result: Result<CallResult, LedgerError>, took: Duration) {
            switch (work, result) {
            case (_, .failure): metrics.unavailable(role)
            case (.write(let batch), .success(.results(let results))):
                metrics.wrote(batch.decisions, results, took: took, now: .now)
                decisionLog.wrote(batch.decisions, results)
            case (_, .success(.request(.measured(let measure)))): metrics.measured(measure)
            case (_, .success): break
            }
        }

        private enum CallResult {
            case results([DecisionResult])
            case request(LedgerResult)
        }

        private func reply(_ work: Work, _ result: Result<CallResult, LedgerError>, isLoss: Bool) {
            let input: Input =
                switch work {
                case .write(let batch):
                    .written(batch.id, result.map { if case .results(let results) = $0 { results } else { [] } })
                case .request(let request):
                    .ledger(request.id, result.map { if case .request(let result) = $0 { result } else { .done } })
                }
            core.post(isLoss ? .lost(role, losses: losses, input) : .input(input))
        }
    }
}

/// Opens the ledger that the configuration names, for the worker's group alone.
///
/// A worker without partitions works on due rows and owed events, too. So no connection is had before the ledger is the
/// group's. That holds at the start, where the group's name and topics are known, and later, where its cluster is known
/// as well.
struct LedgerOpening: Sendable {
    static let shortestPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(5)
    /// Tries between two lines of the log: ten minutes, as for everything that lasts.
    static let triesPerLine = 120

    /// Its words in the log.
    let name: String
    private let driver: LedgerDriver
    private let group: ConsumerGroup
    private let prunes: Bool
    private let membership = Membership()

    /// The group that has let the worker in; nil before that.
    private final class Membership: Sendable {
        let group = Mutex<ConsumerGroup?>(nil)
    }

    /// - Parameters:
    ///   - group: The worker's group, whose cluster nobody has asked yet.
    ///   - prunes: Whether the worker deletes old answers.
    /// - Throws: `.unusable` for a URL that makes no sense.
    init(_ settings: LedgerSettings, group: ConsumerGroup, prunes: Bool = false) throws(LedgerError) {
        self.prunes = prunes
        name = "\(settings)"
        driver = try LedgerDriver(settings)
        self.group = group
    }

    /// The group has let the worker in.
    /// - Parameter cluster: The id of its cluster; nil where the brokers tell none.
    @Sendable func joined(cluster: String?) {
        var group = group
        group.cluster = cluster
        membership.group.withLock { [group] in $0 = group }
    }

    /// A connection for the calling thread. The ledger is the group's from then on.
    /// - Throws: also `.unusable` if it is another group's, or if an embedded ledger was replaced, and another worker
    ///   has the one in its place.
    func open() throws(LedgerError) -> any LedgerConnection & LedgerOperator {
        // Before the group has let the worker in, no session is made at all.
        _ = try member()
        if let holder = try driver.claim(creating: false) {
            throw .unusable(detail: "\(holder) works for \(name) now; this worker ends, and waits after its next start")
        }
        let ledger = try driver.open()
        try demandGroup(of: ledger)
        return ledger
    }

    /// Makes the ledger the group's, if it is nobody's.
    /// - Throws: `.unusable` if it is another group's, such as after a person has moved it.
    func demandGroup(of ledger: any LedgerConnection) throws(LedgerError) {
        let group = try member()
        let owner = try ledger.bind(to: group)
        if let refusal = group.refusal(of: try ledger.identity(), owner: owner) { throw .unusable(detail: refusal) }
    }

    private func member() throws(LedgerError) -> ConsumerGroup {
        guard let group = membership.group.withLock({ $0 }) else {
            throw .unavailable(detail: "the group has not let the worker in, so its cluster is not known")
        }
        return group
    }

    /// Makes an embedded ledger if there is none, and waits until it is available. A worker that starts while another
    /// one has the file, its database restarts, or its disk is full, can only wait.
    ///
    /// An order to read the apps file again that comes meanwhile is left for the worker's begin.
    /// - Returns: Its id; nil if the worker is to stop.
    /// - Throws: the error that waiting does not mend.
    func wait(
        _ events: Mailbox<ProcessEvent>, logger: Logger
    ) throws(LedgerError) -> String? {
        var backoff = Self.shortestPause
        var tries = 0
        // A standby may wait for weeks: it says once for whom.
        var toldHolder: String?
        var mustReload = false
        defer { if mustReload { events.post(.reload) } }
        while true {
            let isToldNow = tries % Self.triesPerLine == 0
            tries += 1
            do throws(LedgerError) {
                guard let holder = try driver.claim(creating: driver.isMadeByWorkers) else {
                    let id = try make(logger)
                    if tries > 1 { logger.info("The ledger is available", metadata: ["tries": .number(tries)]) }
                    return id
                }
                if holder != toldHolder {
                    logger.notice(
                        "Another worker has the ledger; this one waits, and takes over once that one has ended",
                        metadata: ["ledger": "\(name)", "holder": .text(holder)])
                }
                toldHolder = holder
            } catch {
                // A session that ended between two looks is one that was not to be had.
                if case .unusable = error { throw error }
                if isToldNow {
                    logger.error(
                        "The ledger is unavailable; the worker waits for it before it joins its group",
                        metadata: ["cause": .text(error.sentence), "tries": .number(tries)])
                }
            }
            if isStopped(events, within: backoff, &mustReload) { return nil }
            backoff = min(backoff * 2, Self.longestPause)
        }
    }

    /// Makes the ledger, or brings it up to date, where workers do so.
    /// - Returns: Its id.
    /// - Throws: also `.unusable` if it is another group's.
    private func make(_ logger: Logger) throws(LedgerError) -> String {
        if driver.isMadeByWorkers {
            let (from, to) = try driver.migrate()
            if from == 0 {
                logger.notice("A new ledger is made", metadata: ["ledger": "\(name)"])
            } else if from != to {
                logger.notice(
                    "The ledger's schema is brought up to date",
                    metadata: ["ledger": "\(name)", "from": .number(from), "to": .number(to)])
            }
        }
        let (id, owner) = try driver.identify(prunes: prunes)
        // The cluster is not known before the group has let the worker in.
        if let owner, let refusal = group.refusal(of: id, owner: owner) { throw .unusable(detail: refusal) }
        return id
    }

    /// Waits for a time, or until the process is to stop.
    private func isStopped(
        _ events: Mailbox<ProcessEvent>, within time: Duration, _ mustReload: inout Bool
    ) -> Bool {
        let until = Instant.now + time
        var taken: [ProcessEvent] = []
        while events.wake.wait(until: until) {
            events.takeAll(into: &taken)
            for event in taken {
                switch event {
                case .stop: return true
                case .reload: mustReload = true
                // No driver is there yet.
                case .stopped, .clientFailed: break
                }
            }
        }
        return false
    }
}
