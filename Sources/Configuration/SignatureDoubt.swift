import AppStore

/// Why genuine evidence may not be taken for Apple's here. The raw values are lines of the log.
public enum SignatureDoubt: String, Hashable, Sendable, CaseIterable {
    /// A host's policy for OpenSSL.
    case lacksSHA1 = "OpenSSL checks no SHA-1 signatures on this host; receipts from before 2025 are held"
}

extension WorkerConfiguration {
    /// What a person should know at the start about the signatures that this worker checks.
    public var signatureDoubts: [SignatureDoubt] { signatureDoubts(lacksSHA1: TrustedRoots.lacksSHA1) }

    func signatureDoubts(lacksSHA1: Bool) -> [SignatureDoubt] {
        // verifyReceipt checks the signatures of receipts itself.
        let readsReceipts = apps.all.contains { $0.receipts != .verifyReceipt }
        return lacksSHA1 && readsReceipts ? [.lacksSHA1] : []
    }
}
