public import AppStore
public import HTTPTransport
public import Purchases

/// Apple's verifyReceipt over HTTPS.
///
/// [verifyReceipt](https://developer.apple.com/documentation/appstorereceipts/verifyreceipt)
public struct AppleEndpoint: AppStoreEndpoint {
    private let transport: HTTPTransport
    private let productionURL: String
    private let sandboxURL: String

    /// Calls the given URLs, each the whole URL.
    public init(transport: HTTPTransport, productionURL: String, sandboxURL: String) {
        self.transport = transport
        self.productionURL = productionURL
        self.sandboxURL = sandboxURL
    }

    public func verifyReceipt(_ environment: Environment, body: [UInt8]) async -> VerifyReceiptReply {
        let request = HTTPRequest(
            method: .post, url: environment == .production ? productionURL : sandboxURL,
            headers: [HTTPHeader(name: "content-type", value: "application/json")], body: body)
        do {
            let response = try await transport.send(request)
            return .response(
                httpStatus: response.status, retryAfter: response.header("retry-after"), body: response.body)
        } catch {
            return .failed(TransportFailure(error))
        }
    }
}
