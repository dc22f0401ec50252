import Contract
import Ledger
import Logging
import Metrics
import Processing
import Scheduling
import Threading

/// Deletes old answers, on a thread and a connection of its own, so that nothing else waits for it. The connection is
/// there while a round lasts.
final class RetentionThread: Sendable {
    /// The order to the thread to end: it is closed.
    private let orders: Mailbox<Never>
    private let thread: OwnerThread

    /// - Parameter open: Makes a connection to the ledger, on this thread.
    init(
        _ retention: AnswerRetention, metrics: WorkerMetrics, logger: Logger,
        open: @escaping @Sendable () throws(LedgerError) -> any LedgerOperator
    ) throws(ThreadingError) {
        let orders = try Mailbox<Never>(bound: 0)
        self.orders = orders
        thread = try OwnerThread(name: "retention") {
            var loop = Loop(retention: retention, orders: orders, metrics: metrics, logger: logger, open: open)
            loop.run()
        }
    }

    /// Ends the thread once the call under way is done.
    func endSoon() { orders.close() }

    func join() { thread.join() }

    private struct Loop {
        var retention: AnswerRetention
        let orders: Mailbox<Never>
        let metrics: WorkerMetrics
        let logger: Logger
        let open: @Sendable () throws(LedgerError) -> any LedgerOperator
        var ledger: (any LedgerOperator)?

        mutating func run() {
            while !orders.isClosed {
                switch retention.next(at: .now, wall: .now) {
                case .sleep(let moment):
                    ledger = nil
                    orders.wake.wait(until: moment)
                case .rest(let moment): orders.wake.wait(until: moment)
                case .call(let call): carryOut(call)
                }
            }
        }

        private mutating func carryOut(_ call: AnswerRetention.Call) {
            switch perform(call) {
            case .success(let answer):
                if case .prune(let step, _) = call, case .pruned(let rows) = answer, !step.isTrial {
                    metrics.pruned.increment(by: rows)
                }
                guard let round = retention.ended(answer, at: .now) else { return }
                logger.info(
                    "Old answers are deleted",
                    metadata: [
                        "answers": .number(round.answers), "before": "\(round.before)",
                        "took_seconds": .seconds(round.took),
                    ])
            case .failure(let error):
                ledger = nil
                retention.failed(at: .now)
                metrics.pruneFailures.increment()
                logger.warning(
                    "Old answers cannot be deleted now; it is tried again in ten minutes",
                    metadata: ["cause": .text(error.detail)])
            }
        }

        private mutating func perform(
            _ call: AnswerRetention.Call
        ) -> Result<AnswerRetention.Answer, LedgerError> {
            do throws(LedgerError) {
                let connection: any LedgerOperator
                if let ledger { connection = ledger } else { connection = try open() }
                ledger = connection
                return .success(try call.perform(on: connection))
            } catch {
                return .failure(error)
            }
        }
    }
}
