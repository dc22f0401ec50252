import AppStore
import Fulfillment
import HTTPTransport
import Purchases
import Synchronization

/// Apple, whose answers come when the test says so.
final class HeldAppStore: AppStoreEndpoint {
    private typealias Call = (environment: Environment, then: @Sendable (AppStoreReply) -> Void)

    private let state = Mutex((asked: [Environment](), fresh: [Bool](), open: [Call]()))
    private let onCall = Mutex<(@Sendable () -> Void)?>(nil)

    /// What happens at the next call, on its thread.
    func atNextCall(_ body: @escaping @Sendable () -> Void) { onCall.withLock { $0 = body } }

    /// Where each call went, in order.
    var asked: [Environment] { state.withLock { $0.asked } }
    /// Which of them went over connections of their own.
    var fresh: [Bool] { state.withLock { $0.fresh } }
    /// Calls that wait for their answers.
    var open: Int { state.withLock { $0.open.count } }

    func verifyReceipt(
        _ environment: Environment, body: RequestBody, isFresh: Bool,
        then: @escaping @Sendable (AppStoreReply) -> Void
    ) {
        state.withLock {
            $0.asked.append(environment)
            $0.fresh.append(isFresh)
            $0.open.append((environment, then))
        }
        onCall.withLock { $0.take() }?()
    }

    func serverAPI(
        _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken, isFresh: Bool
    ) async -> AppStoreReply {
        .failed(.unreachable)
    }

    /// Answers the oldest call that waits.
    func answer(_ json: String) {
        let call = state.withLock { $0.open.isEmpty ? nil : $0.open.removeFirst() }
        call?.then(.response(httpStatus: 200, retryAfter: nil, body: Array(json.utf8)))
    }
}
