public import Contract

/// Makes signed transactions of Apple's shape: a compact JWS (RFC 7515), ES256, its certificates in `x5c`.
///
/// One costs a P-256 signature: tens of microseconds. May be used from any number of threads at once.
public struct SignedTransactionFactory: Sendable {
    let signer: SignedDataSigner

    /// A factory of transactions signed by an authority.
    public init(authority: SimulatorAuthority) {
        signer = SignedDataSigner(chain: authority.signedDataChain, key: authority.signedDataKey)
    }

    /// The transaction as an app's StoreKit 2 gives it, and as the App Store Server API answers it.
    ///
    /// - Parameters:
    ///   - signedAt: Its `signedDate`; changes that name this member win.
    ///   - header: Changes of the protected header, which holds `alg` and `x5c`.
    /// - Throws: ``SignedDataError/signingFailed``.
    public func signed(
        _ transaction: TransactionSpecification, signedAt: Timestamp, header: [MemberChange] = []
    ) throws(SignedDataError) -> String {
        try signer.sign(transaction.payload(signedAt: signedAt).text, header: header)
    }
}

/// Why data is not signed. It says what to do about it.
public enum SignedDataError: Error, Hashable, CustomStringConvertible {
    /// OpenSSL refused the authority's key: make a new authority.
    case signingFailed

    public var description: String { "OpenSSL made no signature" }
}
