internal import Contract
internal import Cryptography
internal import FoundationEssentials
internal import Synchronization

/// Finds Apple's reply to a request, from the request alone.
final class ReceiptValidator: Sendable {
    /// The answer, before any script.
    struct Result: Sendable {
        /// Zero for an authentic receipt on its own side.
        let status: Int
        /// The receipt, whenever it could be read, accepted or not.
        var receipt: ReceiptSpecification?
        /// As it came; empty if there was none.
        var base64 = ""
        var excludesOldTransactions = false

        /// Every transaction that the receipt names, each once.
        var transactions: [TransactionID] {
            var seen: Set<TransactionID> = []
            return receipt?.purchases.map(\.transactionID).filter { seen.insert($0).inserted } ?? []
        }
    }

    private let signer: ReceiptSigner
    private let acceptedSecrets: Set<String>
    private let verified: Mutex<DigestCache>

    init(signer: ReceiptSigner, acceptedSecrets: Set<String>) {
        self.signer = signer
        self.acceptedSecrets = acceptedSecrets
        verified = Mutex(DigestCache(limit: DigestCache.defaultLimit))
    }

    /// In Apple's order: the request, the receipt's form, its signature, its side, the secret.
    func validate(body: [UInt8], in environment: Environment) -> Result {
        guard let request = VerifyReceiptRequest(body) else {
            return Result(status: 21000)
        }
        guard let base64 = request.receiptData, let der = Data(base64Encoded: Data(base64)) else {
            return Result(status: 21002)
        }
        let bytes = Array(der)
        guard let envelope = try? SignedReceipt(bytes: bytes) else { return Result(status: 21002) }
        guard let receipt = try? ReceiptPayload.receipt(from: envelope.payload) else {
            return Result(status: 21003)
        }
        return Result(
            status: status(of: receipt, in: envelope, bytes: bytes, request: request, environment: environment),
            receipt: receipt, base64: String(decoding: base64, as: UTF8.self),
            excludesOldTransactions: request.excludesOldTransactions)
    }

    private func status(
        of receipt: ReceiptSpecification, in envelope: SignedReceipt, bytes: [UInt8], request: VerifyReceiptRequest,
        environment: Environment
    ) -> Int {
        guard isOwn(envelope, bytes: bytes) else { return 21003 }
        switch (receipt.environment, environment) {
        case (.xcode, _): return 21003
        case (.sandbox, .production): return 21007
        case (.production, .sandbox): return 21008
        case (.production, .production), (.sandbox, .sandbox): break
        }
        guard !acceptedSecrets.isEmpty else { return 0 }
        if let password = request.password { return acceptedSecrets.contains(password) ? 0 : 21004 }
        return receipt.purchases.contains { $0.kind == .autoRenewable } ? 21004 : 0
    }

    private func isOwn(_ envelope: SignedReceipt, bytes: [UInt8]) -> Bool {
        let digest = SHA256.hash(bytes)
        if verified.withLock({ $0.contains(digest) }) { return true }
        guard signer.isOwn(envelope) else { return false }
        verified.withLock { $0.insert(digest) }
        return true
    }
}
