import Ledger
import Scheduling

@testable import Processing

extension Turn {
    /// The calls to the ledger that it asks for, in order.
    var calls: [LedgerRequest.Call] { actions.requests.map(\.call) }

    mutating func wait(_ duration: Duration) { now = now + duration }

    /// The latest call has its result.
    mutating func endCalls() {
        guard let request = actions.requests.popLast() else { return }
        _ = ledgerCalls.ended(request.id, at: now)
    }

    /// All signals to the machines since the last time.
    mutating func takeSignals() -> [Signal] {
        var signals: [Signal] = []
        while signals.count < 100_000, let signal = nextSignal() { signals.append(signal) }
        return signals
    }
}
