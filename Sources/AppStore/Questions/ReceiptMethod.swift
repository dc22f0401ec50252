/// How an app's receipts are verified. Signed transactions need no choice.
public enum ReceiptMethod: String, Hashable, Sendable, CaseIterable {
    /// Apple's verifyReceipt is asked. Apple deprecates it, but without a key only it shows refunds.
    case verifyReceipt
    /// The receipt's signature is verified here, without a call. Refunds since the receipt was made are not seen.
    case local
    /// The receipt's signature is checked here, then the App Store Server API is asked for its transactions.
    case serverAPI
}
