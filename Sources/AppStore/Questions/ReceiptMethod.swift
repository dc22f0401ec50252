/// How an app's receipts are verified. Signed transactions need no choice.
public enum ReceiptMethod: String, Hashable, Sendable, CaseIterable {
    /// Apple's verifyReceipt is asked: deprecated by Apple, and the only one that tells of refunds without a key.
    case verifyReceipt
    /// The receipt's signature is checked here; nobody is asked. Refunds since the receipt was made are not seen.
    case local
    /// The receipt's signature is checked here, then the App Store Server API is asked for its transactions.
    case serverAPI
}
