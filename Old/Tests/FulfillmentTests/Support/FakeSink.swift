import Fulfillment
import Purchases
import Synchronization

/// Output topics in memory, which can refuse a number of batches first.
final class FakeSink: EventSink {
    private let state = Mutex((events: [Event](), refusals: 0))

    var events: [Event] { state.withLock { $0.events } }

    func refuse(_ batches: Int) { state.withLock { $0.refusals = batches } }

    func publish(_ events: [Event]) async -> [Bool] {
        state.withLock { state in
            if state.refusals > 0 {
                state.refusals -= 1
                // Written and not acknowledged: the case that must not lead to a second event id.
                state.events.append(contentsOf: events.prefix(1))
                return events.map { _ in false }
            }
            state.events.append(contentsOf: events)
            return events.map { _ in true }
        }
    }
}
