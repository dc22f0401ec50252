public import AppStore
public import HTTPTransport
public import Purchases

/// Apple, as far as a worker asks it.
public protocol AppStoreEndpoint: Sendable {
    /// Where tasks that wait for answers had best run; nil for where all tasks do.
    var executor: (any TaskExecutor)? { get }

    /// Posts a verifyReceipt request and waits for the answer, or for the reason why there is none.
    func verifyReceipt(_ environment: Environment, body: RequestBody) async -> AppStoreReply

    /// Sends a request to the App Store Server API and waits for the answer, or for the reason why there is none.
    func serverAPI(
        _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken
    ) async -> AppStoreReply
}

extension AppStoreEndpoint {
    /// Where all tasks run.
    public var executor: (any TaskExecutor)? { nil }
}
