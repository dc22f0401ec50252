public import Contract
import Cryptography

/// Verifies StoreKit 2 signed transactions without asking anybody.
///
/// A compact JWS, ES256, with the certificates of its key; nothing in the payload is used before the signature holds. One
/// verifier is shared by all threads; it is synchronous and keeps what it learns about certificates, in bounds.
///
/// [JWSTransaction](https://developer.apple.com/documentation/appstoreserverapi/jwstransaction)
public final class SignedTransactionVerifier: Sendable {
    /// Largest text that is looked into, in bytes. Apple's have 4 to 6 KB.
    public static let maxBytes = 64 << 10
    /// How far a signature's moment may lie ahead of ours.
    public static let maxClockDifference: Duration = .seconds(300)

    /// How often certificates were known already, for metrics.
    public struct Statistics: Hashable, Sendable {
        /// Without a verification of the certificates, whether or not they hold.
        public let hits: Int
        /// With one.
        public let misses: Int
    }

    private let chains: ChainCache
    let headers = JWSHeaderCache()

    /// A verifier that trusts these roots.
    public init(roots: TrustedRoots) {
        chains = ChainCache(roots: roots)
    }

    /// Look-ups so far.
    public var statistics: Statistics {
        let chains = chains.statistics
        return Statistics(hits: headers.hits + chains.hits, misses: chains.misses)
    }

    /// The transaction in a text, once its signature holds.
    ///
    /// - Parameters:
    ///   - text: a compact JWS of at most ``maxBytes``; white space around it is passed over.
    ///   - now: wall-clock time; bounds how far ahead a transaction may be signed, and nothing else. A signature holds
    ///     for ever, however long ago its certificates ran out: what counts is that they were valid when it was made.
    /// - Throws: why the text is no transaction that Apple signed; the error's `verdict` says what follows.
    public func verify(_ text: EvidenceText, now: Timestamp) throws(SignedTransactionError) -> SignedTransaction {
        var trace = NoTrace()
        return try verify(text, now: now, &trace)
    }

    /// The same for a text that is a string.
    public func verify(_ text: String, now: Timestamp) throws(SignedTransactionError) -> SignedTransaction {
        try verify(EvidenceText(text), now: now)
    }

    /// The same checks, each with how it ended, for people.
    public func explain(_ text: EvidenceText, now: Timestamp) -> SignedTransactionReport {
        var trace = StepTrace()
        let result = Result { () throws(SignedTransactionError) in try verify(text, now: now, &trace) }
        return SignedTransactionReport(passed: trace.steps, result: result)
    }

    private func verify(
        _ text: EvidenceText, now: Timestamp, _ trace: inout some VerificationTrace
    ) throws(SignedTransactionError) -> SignedTransaction {
        let token = try CompactJWS(text)
        trace.passed(.form, "A compact JWS of \(text.bytes.count) bytes.")
        let known = headers.key(of: token.header)
        let key = if let known { known } else { try signingKey(token.header, &trace) }
        if known != nil { trace.passed(.header, "The header is one that was seen before.") }
        trace.passed(
            .certificates,
            "They lead to a pinned root and are valid from \(key.validity.lowerBound) to \(key.validity.upperBound).")
        // StoreKit writes base64url; to take other alphabets, too, would give a transaction many spellings.
        guard let raw = Base64URL.decode(token.signature) else { throw .notBase64URL }
        // Of the two forms that every ECDSA signature has, either counts: the text is never an identity.
        guard key.signed(payload: token.payload, raw) else { throw .wrongSignature }
        if known == nil { headers.remember(token.header, key) }
        trace.passed(.signature, "The certified key signed header and payload.")
        guard let payload = Base64URL.decode(token.payload) else { throw .notBase64URL }
        let transaction = try SignedTransaction(payload: payload)
        trace.passed(.payload, "The payload is one of a transaction.")
        try check(transaction, validity: key.validity, now: now, &trace)
        return transaction
    }

    private func check(
        _ transaction: SignedTransaction, validity: ClosedRange<Timestamp>, now: Timestamp,
        _ trace: inout some VerificationTrace
    ) throws(SignedTransactionError) {
        guard validity.contains(transaction.signedAt) else { throw .outsideValidity }
        trace.passed(.validity, "Signed at \(transaction.signedAt), when the certificates were valid.")
        let earliest = transaction.signedAt.advanced(by: .zero - Self.maxClockDifference)
        guard earliest <= now else { throw .signedAhead(until: earliest) }
        trace.passed(.clock, "It was not signed in the future.")
        guard !transaction.isLocalTesting else { throw .localTesting }
        trace.passed(.environment, "The environment is none of local tests.")
    }

    /// The key of a header that is not known.
    private func signingKey(
        _ encoded: ArraySlice<UInt8>, _ trace: inout some VerificationTrace
    ) throws(SignedTransactionError) -> SigningKey {
        let header = try SignedTransactionHeader(encoded)
        trace.passed(.header, "ES256, with three certificates.")
        let chain: VerifiedChain
        do throws(ChainError) {
            chain = try chains.chain(leaf: header.leaf[...], intermediate: header.intermediate[...])
        } catch {
            throw .chain(error)
        }
        guard !chain.isSignedWithSHA1 else { throw .chain(.weakSignature) }
        guard chain.key.kind == .p256 else { throw .wrongKey }
        return SigningKey(key: chain.key, validity: chain.validity, header: encoded)
    }
}
