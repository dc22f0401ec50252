public import AppStore

/// What verifies Apple's signatures, with what it remembers about certificates. Shared by all tasks.
public struct SignatureVerifiers: Sendable {
    let transactions: SignedTransactionVerifier
    let receipts: ReceiptVerifier

    /// Verifiers that trust these roots.
    public init(roots: TrustedRoots) {
        transactions = SignedTransactionVerifier(roots: roots)
        receipts = ReceiptVerifier(roots: roots)
    }
}
