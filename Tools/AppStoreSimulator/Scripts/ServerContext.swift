internal import Contract
internal import HTTPServer
internal import SimulatorServer
internal import Synchronization

/// The parts that both services of an endpoint share: the scripts and the statistics.
final class ServerContext: Sendable {
    let book: Mutex<ScriptBook>
    let statistics = Mutex(Statistics())

    init(seed: UInt64) {
        book = Mutex(ScriptBook(seed: seed))
    }

    /// Decides what goes wrong with a call, and counts it.
    func script(ofCallAbout transactions: [TransactionID], in environment: Environment) -> ScriptBook.Entry {
        let entry = book.withLock { $0.next(forCallAbout: transactions, in: environment) }
        statistics.withLock { statistics in
            statistics.count(callAbout: transactions)
            guard let fault = entry.fault else { return }
            statistics.count(in: environment) { $0.faults[fault.name, default: 0] += 1 }
        }
        return entry
    }

    func count(in environment: Environment, _ change: (inout Statistics.Endpoint) -> Void) {
        statistics.withLock { $0.count(in: environment, change) }
    }

    /// The answer of a call that is refused before it is looked into.
    func refuse(_ code: Int, _ text: String, in environment: Environment) -> ServerAnswer {
        count(in: environment) { $0.refusals[code, default: 0] += 1 }
        return .reply(.text(code, text))
    }
}
