import Contract
import Ledger
import Logging
import Metrics
import Processing
import Scheduling
import Threading

/// One of the ledger's two connections, on its own thread.
///
/// A lost connection is made anew with the next call. The core learns of the loss from the call that met it, and takes
/// every partition over anew. Earlier calls were meant for the old connection, and the ledger behind the new one may
/// have been set back. So each call carries the number of losses that the core knew of. A call with an old number also
/// ends as lost, without being carried out.
final class LedgerThread: Sendable {
    /// Calls that wait: one batch for the writing connection, and a handful of each kind for the other one.
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
            let start = Instant.now
            switch call.work {
            case .write(let batch):
                let result = attempt(call) { (connection) throws(LedgerError) in try connection.write(batch.decisions) }
                if case .success(let results) = result {
                    metrics.wrote(batch.decisions, results, took: .now - start, now: clock.moment(of: .now))
                    decisionLog.wrote(batch.decisions, results)
                }
                post(.written(batch.id, result), of: result)
            case .request(let request):
                let result = attempt(call) { [demandGroup] (connection) throws(LedgerError) in
                    switch request.call {
                    case .takeOver, .measure: try demandGroup(connection)
                    default: break
                    }
                    return try request.call.perform(on: connection)
                }
                if case .success(.measured(let measure)) = result { metrics.measured(measure) }
                post(.ledger(request.id, result), of: result)
            }
        }

        /// - Returns: `.disconnected` also for a call that was meant for a lost connection.
        private mutating func attempt<Value>(
            _ call: Call, _ body: (any LedgerConnection) throws(LedgerError) -> Value
        ) -> Result<Value, LedgerError> {
            guard call.losses == losses else {
                return .failure(.disconnected(detail: "The connection was lost before."))
            }
            do throws(LedgerError) {
                let ledger = if let connection { connection } else { try open() }
                connection = ledger
                defer {
                    clock.found(lead: ledger.clockLead)
                    metrics.clockLead.set(Double(ledger.clockLead) / 1000)
                }
                return .success(try body(ledger))
            } catch {
                metrics.unavailable(role)
                if case .disconnected(let detail) = error {
                    logger.warning(
                        "The connection to the ledger is lost",
                        metadata: ["connection": .text(role.rawValue), "detail": .text(detail)])
                    connection = nil
                    losses += 1
                }
                return .failure(error)
            }
        }

        private func post<Value>(_ input: Input, of result: Result<Value, LedgerError>) {
            let isLoss = if case .failure(.disconnected) = result { true } else { false }
            core.post(isLoss ? .lost(role, losses: losses, input) : .input(input))
        }
    }
}
