import AppStore

/// Why genuine evidence may not be taken for Apple's here. The raw values are lines of the log.
public enum SignatureDoubt: String, Hashable, Sendable, CaseIterable {
    /// A file of roots that is for a simulator.
    case foreignRoots =
        "Apple's own hosts are asked, and GRANTOR_APPLE_ROOT_CERTIFICATES lacks a root of Apple's; evidence that chains to it is held"
    /// A host's policy for OpenSSL.
    case lacksSHA1 = "OpenSSL checks no SHA-1 signatures on this host; receipts from before 2025 are held"
}

extension WorkerConfiguration {
    /// Doubts about the signatures that this worker checks, for a person to know at the start; empty for none.
    public var signatureDoubts: [SignatureDoubt] { signatureDoubts(lacksSHA1: TrustedRoots.lacksSHA1) }

    func signatureDoubts(lacksSHA1: Bool) -> [SignatureDoubt] {
        // verifyReceipt checks the signatures of receipts itself.
        let readsReceipts = apps.all.contains { $0.receipts != .verifyReceipt }
        return (apple.asksApple && !apple.roots.haveAppleRoots ? [.foreignRoots] : [])
            + (lacksSHA1 && readsReceipts ? [.lacksSHA1] : [])
    }
}

extension AppleSettings {
    /// Whether a production URL is of a host of Apple's.
    fileprivate var asksApple: Bool {
        [verifyReceiptProductionURL, serverAPIProductionURL].contains { url in
            let host = url.lowercased().split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
            return host.prefix { $0 != ":" }.hasSuffix(".apple.com")
        }
    }
}
