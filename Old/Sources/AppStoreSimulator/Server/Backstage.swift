import Purchases
import Synchronization

/// What both services of an endpoint share: the scripts, and the count of what happened.
final class Backstage: Sendable {
    let book: Mutex<ScriptBook>
    let statistics = Mutex(Statistics())

    init(seed: UInt64) {
        book = Mutex(ScriptBook(seed: seed))
    }

    /// Decides what goes wrong with a call, and counts it.
    func direct(callAbout transactions: [TransactionID], in environment: Environment) -> ScriptBook.Direction {
        let direction = book.withLock { $0.direct(callAbout: transactions, in: environment) }
        statistics.withLock { statistics in
            statistics.count(callAbout: transactions)
            guard let fault = direction.fault else { return }
            statistics.count(in: environment) { $0.faults[fault.name, default: 0] += 1 }
        }
        return direction
    }

    func count(in environment: Environment, _ change: (inout Statistics.Endpoint) -> Void) {
        statistics.withLock { $0.count(in: environment, change) }
    }

    /// The answer of a call that is refused before it is looked into.
    func refuse(_ code: Int, _ text: String, in environment: Environment) -> Performance {
        count(in: environment) { $0.refusals[code, default: 0] += 1 }
        return Performance(act: .reply(Stage.text(code, text)))
    }
}
