public import AppStore
public import HTTPTransport
public import Purchases

/// Apple over HTTPS: verifyReceipt and the App Store Server API.
///
/// [verifyReceipt](https://developer.apple.com/documentation/appstorereceipts/verifyreceipt),
/// [App Store Server API](https://developer.apple.com/documentation/appstoreserverapi)
public struct AppleEndpoint: AppStoreEndpoint {
    /// Where the two services are, in one environment.
    public struct Hosts: Hashable, Sendable {
        /// The whole URL.
        public let verifyReceipt: String
        /// The base, to which paths such as `/inApps/v1/transactions/1` are appended.
        public let serverAPI: String

        /// The services of one environment.
        public init(verifyReceipt: String, serverAPI: String) {
            self.verifyReceipt = verifyReceipt
            self.serverAPI = serverAPI
        }
    }

    private let transport: HTTPTransport
    private let production: Hosts
    private let sandbox: Hosts

    /// Calls the given hosts and no other: nothing that a submission or an answer says changes where a call goes.
    public init(transport: HTTPTransport, production: Hosts, sandbox: Hosts) {
        self.transport = transport
        self.production = production
        self.sandbox = sandbox
    }

    public var executor: (any TaskExecutor)? { transport.executor }

    public func verifyReceipt(
        _ environment: Environment, body: RequestBody, isFresh: Bool,
        then: @escaping @Sendable (AppStoreReply) -> Void
    ) {
        let request = HTTPRequest(
            method: .post, url: hosts(environment).verifyReceipt, headers: Self.json, body: body,
            isOnFreshConnection: isFresh)
        transport.send(request) { then(AppStoreReply($0)) }
    }

    public func serverAPI(
        _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken, isFresh: Bool
    ) async -> AppStoreReply {
        let request = HTTPRequest(
            method: .get, url: hosts(environment).serverAPI + request.path,
            headers: [HTTPHeader(name: "authorization", value: "Bearer \(token.text)")], body: nil,
            isOnFreshConnection: isFresh)
        do throws(HTTPTransportError) {
            return AppStoreReply(.success(try await transport.send(request)))
        } catch {
            return AppStoreReply(.failure(error))
        }
    }

    private static let json = [HTTPHeader(name: "content-type", value: "application/json")]

    private func hosts(_ environment: Environment) -> Hosts {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}

extension AppStoreReply {
    fileprivate init(_ result: Result<HTTPResponse, HTTPTransportError>) {
        switch result {
        case .success(let response):
            self = .response(
                httpStatus: response.status, retryAfter: response.header("retry-after"), body: response.body)
        case .failure(let error): self = .failed(TransportFailure(error))
        }
    }
}
