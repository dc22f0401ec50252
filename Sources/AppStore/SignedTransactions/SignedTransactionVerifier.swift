public import Contract
import Cryptography
import FoundationEssentials
import Synchronization

/// Verifies StoreKit 2 signed transactions without asking anybody.
///
/// A compact JWS, ES256, with the certificates of its key; nothing in the payload is used before the signature holds.
/// All threads share one verifier. It is synchronous, and has a bounded cache of certificate chains.
///
/// [JWSTransaction](https://developer.apple.com/documentation/appstoreserverapi/jwstransaction)
public final class SignedTransactionVerifier: Sendable {
    /// Largest text that is looked into, in bytes. Apple's have 4 to 6 KB.
    public static let maxBytes = 64 << 10
    /// How far clocks may differ at any time. A signature's moment may lie ahead of ours by as much.
    static let maxClockDifference: Duration = .seconds(300)

    let chains: ChainCache
    let headers = JWSHeaderCache()

    public init(roots: TrustedRoots) { chains = ChainCache(roots: roots) }

    /// The transaction in a text, once its signature holds.
    /// - Parameters:
    ///   - text: a compact JWS of at most ``maxBytes``; white space around it is passed over.
    ///   - now: wall-clock time; bounds how far ahead a transaction may be signed, and nothing else. A signature stays
    ///     valid after its certificates expired, because they were valid when it was made.
    /// - Throws: why the text is no transaction that Apple signed; the error's `verdict` says what follows.
    public func verify(_ text: EvidenceText, now: Timestamp) throws(SignedTransactionError) -> SignedTransaction {
        let token = try CompactJWS(text)
        let known = headers.key(of: token.header)
        let key = if let known { known } else { try signingKey(token.header) }
        // StoreKit writes base64url; to take other alphabets, too, would give a transaction many spellings.
        guard let raw = Base64URL.decode(token.signature) else { throw .notBase64URL }
        // Of the two forms that every ECDSA signature has, either counts: the text is never an identity.
        switch key.signed(payload: token.payload, raw) {
        case .holds: break
        case .fails: throw .wrongSignature
        case .unchecked: throw .unchecked
        }
        if let objection = key.objection { throw .objection(objection) }
        if known == nil { headers.remember(token.header, key) }
        guard let payload = Base64URL.decode(token.payload) else { throw .notBase64URL }
        let transaction = try SignedTransaction(payload: payload)
        guard key.validity.contains(transaction.signedAt) else { throw .outsideValidity }
        let earliest = transaction.signedAt.advanced(by: .zero - Self.maxClockDifference)
        guard earliest <= now else { throw .signedAhead(until: earliest) }
        guard !transaction.isLocalTesting else { throw .localTesting }
        return transaction
    }

    /// The same checks, each with how it ended, for people.
    public func explain(_ text: EvidenceText, now: Timestamp) -> [EvidenceCheck] {
        var failure: (step: SignedTransactionStep, detail: String)?
        do throws(SignedTransactionError) {
            if case .failure(let lacking) = try verify(text, now: now).purchase {
                failure = (.purchase, lacking.detail)
            }
        } catch {
            failure = (SignedTransactionStep(failedBy: error), error.detail)
        }
        return EvidenceCheck.all(failure: failure)
    }

    /// The key of a header that is not known.
    private func signingKey(_ encoded: ArraySlice<UInt8>) throws(SignedTransactionError) -> SigningKey {
        let header = try SignedTransactionHeader(encoded)
        let chain: VerifiedChain
        do throws(ChainError) {
            chain = try chains.chain(leaf: header.leaf[...], intermediate: header.intermediate[...])
        } catch {
            throw error == .unchecked ? .unchecked : .chain(error)
        }
        guard !chain.isSignedWithSHA1 else { throw .chain(.weakSignature) }
        guard chain.key.kind == .p256 else { throw .wrongKey }
        return SigningKey(key: chain.key, validity: chain.validity, objection: chain.objection, header: encoded)
    }
}

/// Headers of transactions whose signature held, by their bytes. Apple writes the same header into every transaction
/// that a leaf signs. Reading it again would take most of a warm verification.
///
/// A list and not a dictionary: hashing three kilobytes costs more than comparing them with the few there are. The
/// signature is over the header, too, so only Apple can make an entry. May be used by all threads at once.
final class JWSHeaderCache: Sendable {
    /// Most headers that are kept; the oldest gives way.
    static let maxCount = 16

    private struct Entry {
        let header: [UInt8]
        let key: SigningKey
    }

    /// Newest first.
    private let entries = Mutex<[Entry]>([])

    var count: Int { entries.withLock { $0.count } }

    /// The key that a header names; nil for a header that is not known.
    func key(of header: ArraySlice<UInt8>) -> SigningKey? {
        // Compared outside of the lock, on a snapshot that costs a reference.
        let entries = entries.withLock { $0 }
        return entries.first { $0.header.span.bytes.isEqual(to: header.span.bytes) }?.key
    }

    /// Keeps the header of a transaction whose signature held.
    func remember(_ header: ArraySlice<UInt8>, _ key: SigningKey) {
        // A copy of its own: a slice would keep the whole text it was cut from.
        let entry = Entry(header: Array(header), key: key)
        entries.withLock { entries in
            guard !entries.contains(where: { $0.header == entry.header }) else { return }
            if entries.count == Self.maxCount { entries.removeLast() }
            entries.insert(entry, at: 0)
        }
    }
}

extension RawSpan {
    /// Compares eight bytes at a time, the last ones with some of those before; false for fewer. Each load is checked
    /// against the bounds, and every pattern of bits is a number.
    fileprivate func isEqual(to other: RawSpan) -> Bool {
        guard byteCount == other.byteCount, byteCount >= 8 else { return false }
        var difference: UInt64 = 0
        for offset in stride(from: 0, to: byteCount, by: 8) {
            let offset = min(offset, byteCount - 8)
            difference |=
                unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                ^ other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        return difference == 0
    }
}

/// A key of Apple's, certified and seen to have signed, and when it may have signed.
///
/// May be used by all threads at once.
final class SigningKey: Sendable {
    /// Signatures made outside of it do not count.
    let validity: ClosedRange<Timestamp>
    /// As ``VerifiedChain/objection``.
    let objection: ChainError?
    private let key: PublicKey
    /// The header and the dot behind it: most of the signed bytes, and the same in every transaction.
    private let beginning: SHA256Prefix

    /// - Parameters:
    ///   - key: on P-256.
    ///   - header: the encoded header that names the key.
    init(key: PublicKey, validity: ClosedRange<Timestamp>, objection: ChainError?, header: ArraySlice<UInt8>) {
        self.objection = objection
        self.key = key
        self.validity = validity
        beginning = SHA256Prefix(header + [UInt8(ascii: ".")])
    }

    /// Whether the key signed its header and a payload.
    /// - Parameters:
    ///   - payload: encoded.
    ///   - signature: `r` and `s` (RFC 7518, section 3.4); anything else is no signature.
    func signed(payload: ArraySlice<UInt8>, _ signature: [UInt8]) -> SignatureAnswer {
        key.answer(es256: signature, of: beginning.hash(followedBy: payload))
    }
}

/// The three parts of a JWS in compact form (RFC 7515, section 7.1), not looked into.
struct CompactJWS: Sendable {
    /// As it came, encoded.
    let header: ArraySlice<UInt8>
    let payload: ArraySlice<UInt8>
    let signature: ArraySlice<UInt8>

    /// Takes a text apart. White space and quotes around it are passed over: people paste tokens, and programs quote a
    /// string twice.
    init(_ text: EvidenceText) throws(SignedTransactionError) {
        var token = text.bytes
        guard token.count <= SignedTransactionVerifier.maxBytes else { throw .tooLarge }
        while let last = token.last, Self.isAround(last) { token.removeLast() }
        while let first = token.first, Self.isAround(first) { token.removeFirst() }
        guard let first = Self.dot(in: token), let last = Self.dot(in: token[(first + 1)...]) else {
            throw .notThreeParts
        }
        header = token[..<first]
        payload = token[(first + 1)..<last]
        signature = token[(last + 1)...]
        guard Self.dot(in: signature) == nil else { throw .notThreeParts }
    }

    /// The index of the first dot.
    private static func dot(in token: ArraySlice<UInt8>) -> Int? {
        // The header alone has kilobytes, so sixteen bytes are looked at together. The load is checked against the
        // bounds, and every pattern of bits is sixteen bytes; so it is two numbers below.
        let bytes = token.span.bytes
        let dots = SIMD16<UInt8>(repeating: UInt8(ascii: "."))
        var offset = 0
        while offset <= bytes.byteCount - 16 {
            let isDot = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) .== dots
            let marks = unsafeBitCast(SIMD16<UInt8>().replacing(with: 1, where: isDot), to: SIMD2<UInt64>.self)
            guard marks[0] | marks[1] == 0 else { break }
            offset += 16
        }
        return token[(token.startIndex + offset)...].firstIndex(of: UInt8(ascii: "."))
    }

    /// White space, or a quotation mark.
    private static func isAround(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: "\"")
    }

    /// Whether its unverified payload is of Xcode or of local tests. These sign with one certificate of the developer's
    /// machine. Nobody gains anything by saying so.
    var saysLocalTesting: Bool {
        guard let json = Base64URL.decode(payload), let object = try? StrictJSON(json),
            let environment = object.members.lenientText("environment")
        else { return false }
        return AppleCodes.localEnvironments.contains(environment)
    }
}

/// The protected header of a signed transaction: read, and not believed. It says which key may have signed; whether
/// that key counts is for the chain to show.
struct SignedTransactionHeader: Sendable {
    /// The one algorithm there is. It comes from here and not from the header, which must agree.
    static let algorithm = "ES256"
    /// Members that name another key, or that must be understood to be ignored (RFC 7515, sections 4.1.2-4.1.11; RFC
    /// 7797). Apple writes none of them.
    static let refused: Set<String> = ["crit", "jku", "jwk", "x5u", "b64"]

    /// Certificates in `x5c`: leaf, intermediate, root.
    private static let count = 3

    /// DER.
    let leaf: [UInt8]
    /// DER.
    let intermediate: [UInt8]

    init(_ encoded: ArraySlice<UInt8>) throws(SignedTransactionError) {
        guard let json = Base64URL.decode(encoded) else { throw .notBase64URL }
        let header: StrictJSON
        do throws(JSONUnreadable) { header = try StrictJSON(json) } catch { throw .headerUnreadable }
        guard header.flaws.isEmpty else { throw .headerUnreadable }
        guard header.members["alg"] == .string(Self.algorithm) else { throw .wrongAlgorithm }
        guard Self.refused.isDisjoint(with: header.members.names) else { throw .headerRefused }
        guard let chain = header.members.texts(of: "x5c", most: Self.count), chain.count == Self.count else {
            throw .wrongCertificateCount
        }
        guard chain.allSatisfy({ $0.utf8.count <= Self.maxCertificateText }) else { throw .chain(.tooLarge) }
        // The presented root is counted and otherwise ignored. Only pinned roots are trusted, and Apple has sent other
        // certificates of the same root key.
        guard let leaf = Data(base64Encoded: chain[0]), let intermediate = Data(base64Encoded: chain[1]) else {
            throw .chain(.unreadable)
        }
        self.leaf = Array(leaf)
        self.intermediate = Array(intermediate)
    }

    /// Longest text of a certificate: `x5c` has the standard alphabet, padded (RFC 7515, section 4.1.6).
    private static let maxCertificateText = (ChainVerifier.maxCertificateBytes + 2) / 3 * 4
}
