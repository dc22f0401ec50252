public import AppStore

/// The platforms' inventory services, as far as a worker tells them of grants.
public protocol InventoryEndpoint: Sendable {
    /// Makes a fulfilment call and waits for the answer, or for the reason why there is none.
    func tell(_ request: DeliveryRequest) async -> DeliveryReply
}

/// What a fulfilment call came to, before anything is made of it.
public enum DeliveryReply: Hashable, Sendable {
    /// A response that came whole.
    case response(httpStatus: Int, idempotencyKey: String?, retryAfter: String?, body: [UInt8])
    case failed(TransportFailure)

    /// Size of a response's body that is still taken, bytes.
    public static let maxBytes = 64 << 10
}
