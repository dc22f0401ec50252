public import AppStore
public import HTTPTransport
public import Purchases

/// Apple, as far as a worker asks it.
public protocol AppStoreEndpoint: Sendable {
    /// Where tasks that wait for answers had best run; nil for where all tasks do.
    var executor: (any TaskExecutor)? { get }

    /// Posts a verifyReceipt request. Without a task that waits: thousands of them cost more than what they wait for.
    ///
    /// - Parameters:
    ///   - isFresh: over a connection that was never used before, and is not used again.
    ///   - then: called once with the answer, or with the reason why there is none, and not by this call itself: who asks
    ///     again would call himself, ever deeper. It does not block.
    func verifyReceipt(
        _ environment: Environment, body: RequestBody, isFresh: Bool,
        then: @escaping @Sendable (AppStoreReply) -> Void)

    /// Sends a request to the App Store Server API and waits for the answer, or for the reason why there is none.
    ///
    /// - Parameter isFresh: over a connection that was never used before, and is not used again.
    func serverAPI(
        _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken, isFresh: Bool
    ) async -> AppStoreReply
}

extension AppStoreEndpoint {
    /// Where all tasks run.
    public var executor: (any TaskExecutor)? { nil }

    /// Posts a verifyReceipt request and waits for the answer, or for the reason why there is none: for single calls. It
    /// cannot be cancelled.
    public func verifyReceipt(_ environment: Environment, body: RequestBody) async -> AppStoreReply {
        await withCheckedContinuation { caller in
            verifyReceipt(environment, body: body, isFresh: false) { caller.resume(returning: $0) }
        }
    }
}
