import AppStore
import Fulfillment
import Purchases
import Synchronization

/// An inventory service in memory: gives each grant the replies it was told to give, then a yes.
final class FakeInventory: InventoryEndpoint {
    private struct State {
        var calls: [DeliveryRequest] = []
        var tries: [GrantID: Int] = [:]
        var said: [GrantID] = []
        var hangs = false
    }

    private let state = Mutex(State())
    private let replies: @Sendable (_ tries: Int) -> DeliveryReply?

    /// - Parameter replies: what is said to a grant's n-th call, counted from 1; nil for a yes.
    init(_ replies: @escaping @Sendable (_ tries: Int) -> DeliveryReply? = { _ in nil }) {
        self.replies = replies
    }

    /// Every call, in order.
    var calls: [DeliveryRequest] { state.withLock { $0.calls } }
    /// Grants that were said yes to, in order.
    var said: [GrantID] { state.withLock { $0.said } }

    /// From now on calls are answered only by being given up.
    func hang() { state.withLock { $0.hangs = true } }

    func tell(_ request: DeliveryRequest) async -> DeliveryReply {
        let (tries, hangs) = state.withLock { state in
            state.calls.append(request)
            state.tries[request.grantID, default: 0] += 1
            return (state.tries[request.grantID] ?? 1, state.hangs)
        }
        if hangs {
            // A cancelled sleep is the only end of it.
            do { try await Task.sleep(for: .seconds(3600)) } catch { return .failed(.cancelled) }
        }
        if let reply = replies(tries) { return reply }
        state.withLock { $0.said.append(request.grantID) }
        return .response(httpStatus: 200, idempotencyKey: nil, retryAfter: nil, body: [])
    }
}
