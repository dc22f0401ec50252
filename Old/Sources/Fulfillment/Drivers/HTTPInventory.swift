import AppStore
public import HTTPTransport
public import Purchases

/// Inventory services over HTTPS.
public struct HTTPInventory: InventoryEndpoint {
    private let transports: [BundleID: HTTPTransport]

    /// - Parameter transports: each app's, by what its service's certificate may come from.
    public init(_ transports: [BundleID: HTTPTransport]) {
        self.transports = transports
    }

    public func tell(_ request: DeliveryRequest) async -> DeliveryReply {
        guard let transport = transports[request.bundleID] else { return .failed(.unreachable) }
        do {
            let response = try await transport.send(
                HTTPRequest(
                    method: .post, url: request.url, headers: request.headers, body: request.body,
                    totalTimeout: request.timeout))
            return .response(
                httpStatus: response.status, idempotencyKey: response.header(DeliveryRequest.idempotencyHeader),
                retryAfter: response.header("retry-after"), body: response.body)
        } catch {
            return .failed(TransportFailure(error))
        }
    }
}
