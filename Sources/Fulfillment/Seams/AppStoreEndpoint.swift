public import AppStore
public import Purchases

/// Apple, as far as this version asks it.
public protocol AppStoreEndpoint: Sendable {
    /// Posts a verifyReceipt request and waits for the answer, or for the reason why there is none.
    func verifyReceipt(_ environment: Environment, body: [UInt8]) async -> VerifyReceiptReply
}
