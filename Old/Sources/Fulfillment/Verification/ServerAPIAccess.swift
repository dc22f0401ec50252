import AppStore
import Purchases
import Synchronization

/// An app's way to the App Store Server API: its tokens, and the pace at which it may ask. Shared by all tasks.
final class ServerAPIAccess: Sendable {
    private struct Place: Hashable {
        let environment: Environment
        let endpoint: ServerAPIRequest.Endpoint
    }

    let mint: TokenMint
    private let share: Double
    /// One for each environment and endpoint, so their number is fixed.
    private let budgets = Mutex<[Place: RateBudget]>([:])

    init(credentials: ServerAPICredentials, bundleID: BundleID, share: Double) {
        mint = TokenMint(credentials: credentials, bundleID: bundleID)
        self.share = share
    }

    /// Asks for the moment of the next call.
    ///
    /// - Parameter isOnTheWay: whether the call goes on with what other calls have begun.
    func reserve(
        _ environment: Environment, _ endpoint: ServerAPIRequest.Endpoint, elapsed: Duration, isOnTheWay: Bool
    ) -> RateBudget.Slot {
        withBudget(environment, endpoint) { $0.reserve(elapsed: elapsed, isOnTheWay: isOnTheWay) }
    }

    /// Whether a pause that Apple asked for lasts.
    func isPaused(_ environment: Environment, _ endpoint: ServerAPIRequest.Endpoint, elapsed: Duration) -> Bool {
        withBudget(environment, endpoint) { $0.isPaused(elapsed: elapsed) }
    }

    /// Apple asked for a pause.
    func close(_ environment: Environment, _ endpoint: ServerAPIRequest.Endpoint, until elapsed: Duration) {
        withBudget(environment, endpoint) { $0.close(until: elapsed) }
    }

    private func withBudget<Result: Sendable>(
        _ environment: Environment, _ endpoint: ServerAPIRequest.Endpoint, _ body: (inout RateBudget) -> Result
    ) -> Result {
        budgets.withLock { budgets in
            body(
                &budgets[
                    Place(environment: environment, endpoint: endpoint),
                    default: RateBudget(perSecond: endpoint.requestsPerSecond(in: environment), share: share)])
        }
    }
}
