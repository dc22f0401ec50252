internal import CLibcrypto
internal import Synchronization

public enum MessageDigest: Hashable, Sendable {
    case sha1([UInt8])
    case sha256(SHA256Digest)
}

/// The result of a check of a signature.
public enum SignatureAnswer: Hashable, Sendable {
    case holds
    /// The key did not make the signature, or it is none.
    case fails
    /// The check could not be made: memory is out, or the host's OpenSSL does not offer the algorithm. It says nothing
    /// about the signature, and another moment or host may say more.
    case unchecked
}

/// A public key that verifies signatures.
///
/// OpenSSL alone decides: a signature holds if `EVP_PKEY_verify` answers 1. May be used by all threads at once.
///
/// `@unchecked Sendable`: the `EVP_PKEY` is never changed once it is here. OpenSSL allows its use by many threads, each
/// with its own context. It is freed once, at the end of this object's life.
public final class PublicKey: @unchecked Sendable {
    /// Fewest bits of an RSA key whose signatures count.
    static let minRSABits = 2048
    /// Largest encoding of a key that is read, in bytes; one of RSA-4096 has 550.
    public static let maxBytes = 8 << 10

    public enum Kind: Hashable, Sendable {
        /// ECDSA on P-256, P-384.
        case p256, p384
        case rsa(bits: Int)
        /// Nothing signed with it counts.
        case other
    }

    public let kind: Kind
    package let handle: OpaquePointer
    private let sha256: KeyContextPool?
    private let sha1: KeyContextPool?

    package init(owning handle: OpaquePointer) {
        self.handle = handle
        kind = Self.kind(of: handle)
        switch kind {
        case .p256:
            sha256 = KeyContextPool(key: handle, .verify, digest: OpenSSL.sha256, usesRSA: false)
            sha1 = nil
        case .rsa(let bits) where bits >= Self.minRSABits:
            sha256 = KeyContextPool(key: handle, .verify, digest: OpenSSL.sha256, usesRSA: true)
            sha1 = KeyContextPool(key: handle, .verify, digest: OpenSSL.sha1, usesRSA: true)
        case .rsa, .p384, .other:
            sha256 = nil
            sha1 = nil
        }
    }

    /// A key in PEM, a `PUBLIC KEY` (RFC 7468, section 13); nil if it is none.
    public convenience init?(pem: String) {
        guard pem.utf8.count <= Self.maxBytes,
            let handle = withMemoryBIO(pem, { PEM_read_bio_PUBKEY($0, nil, refusePassword, nil) })
        else {
            ERR_clear_error()
            return nil
        }
        self.init(owning: handle)
    }

    deinit { EVP_PKEY_free(handle) }

    /// Whether signatures over SHA-256 digests can be checked with it. Also for a kind of key whose signatures never
    /// count.
    public var isReady: Bool { !makesCountingSignatures || sha256 != nil }

    /// Whether OpenSSL refuses RSA signatures over SHA-1 digests here, as the policies of some hosts do.
    var lacksSHA1: Bool {
        if case .rsa = kind { makesCountingSignatures && sha1 == nil } else { false }
    }

    private var makesCountingSignatures: Bool {
        switch kind {
        case .p256: true
        case .rsa(let bits): bits >= Self.minRSABits
        case .p384, .other: false
        }
    }

    /// Whether the key made an ES256 signature (RFC 7518, section 3.4): `r` and `s`, 64 bytes. It fails if the key is
    /// not on P-256.
    public func answer(es256 signature: [UInt8], of digest: SHA256Digest) -> SignatureAnswer {
        guard kind == .p256, signature.count == ECDSASignature.rawByteCount else { return .fails }
        return signature.withUnsafeBytes { raw in
            ECDSASignature.withDER(raw: raw) { der in
                digest.withUnsafeBytes { verify(der, $0, sha256) }
            }
        }
    }

    /// Whether the key made an ECDSA signature in DER (RFC 3279, section 2.2.3). It fails if the key is not on P-256.
    public func answer(ecdsa signature: some Collection<UInt8>, of digest: SHA256Digest) -> SignatureAnswer {
        guard kind == .p256 else { return .fails }
        return withContiguousBytes(of: signature) { signature in
            digest.withUnsafeBytes { verify(signature, $0, sha256) }
        }
    }

    /// Whether the key made an RSA signature with PKCS#1 v1.5 padding (RFC 8017, section 8.2). It fails if it is another
    /// kind of key, or one of fewer than ``minRSABits``.
    public func answer(rsa signature: some Collection<UInt8>, of digest: MessageDigest) -> SignatureAnswer {
        guard case .rsa = kind, makesCountingSignatures else { return .fails }
        return withContiguousBytes(of: signature) { signature in
            switch digest {
            case .sha256(let digest): digest.withUnsafeBytes { verify(signature, $0, sha256) }
            case .sha1(let digest): digest.withUnsafeBytes { verify(signature, $0, sha1) }
            }
        }
    }

    private func verify(
        _ signature: UnsafeRawBufferPointer, _ digest: UnsafeRawBufferPointer, _ contexts: KeyContextPool?
    ) -> SignatureAnswer {
        ERR_clear_error()
        let answer = contexts?.withContext { context in
            EVP_PKEY_verify(
                context, signature.baseAddress?.assumingMemoryBound(to: UInt8.self), signature.count,
                digest.baseAddress?.assumingMemoryBound(to: UInt8.self), digest.count)
        }
        return Authenticity.answer(answer)
    }

    private static func kind(of handle: OpaquePointer) -> Kind {
        defer { ERR_clear_error() }
        switch EVP_PKEY_get_base_id(handle) {
        case EVP_PKEY_RSA: return .rsa(bits: Int(EVP_PKEY_get_bits(handle)))
        case EVP_PKEY_EC: return curve(of: handle)
        default: return .other
        }
    }

    private static func curve(of handle: OpaquePointer) -> Kind {
        // A curve spelled out in the key can be an attacker's (CVE-2020-0601), even if OpenSSL finds a name for it.
        var isSpelledOut: Int32 = 0
        _ = EVP_PKEY_get_int_param(handle, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isSpelledOut)
        var name = [CChar](repeating: 0, count: 32)
        var count = 0
        guard isSpelledOut == 0, EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1 else { return .other }
        switch name.prefix(count).map({ UInt8(bitPattern: $0) }) {
        case Array(SN_X9_62_prime256v1.utf8): return .p256
        case Array(SN_secp384r1.utf8): return .p384
        default: return .other
        }
    }
}

extension PublicKey {
    /// Whether a check says that the signature holds, for those who refuse nothing for good.
    public func isValidES256Signature(_ signature: [UInt8], of digest: SHA256Digest) -> Bool {
        answer(es256: signature, of: digest) == .holds
    }

    /// The same of an ECDSA signature in DER.
    public func isValidECDSASignature(der signature: some Collection<UInt8>, of digest: SHA256Digest) -> Bool {
        answer(ecdsa: signature, of: digest) == .holds
    }

    /// The same of an RSA signature.
    public func isValidRSASignature(_ signature: some Collection<UInt8>, of digest: MessageDigest) -> Bool {
        answer(rsa: signature, of: digest) == .holds
    }
}

extension PublicKey: Equatable {
    public static func == (left: PublicKey, right: PublicKey) -> Bool {
        left === right || EVP_PKEY_eq(left.handle, right.handle) == 1
    }
}

/// Decides whether OpenSSL confirmed a signature.
///
/// Every verification of this module passes through `answer`, and no other function says that a signature holds.
enum Authenticity {
    /// Set by tests alone: they show that nothing is authentic once OpenSSL refuses everything. It can only refuse.
    @TaskLocal static var refusesEverything = false
    /// Set by tests alone: no check can be made, as where memory is out. Nothing holds then, either.
    @TaskLocal static var checksNothing = false

    /// - Parameter answer: of `EVP_PKEY_verify` or `X509_verify`. It is 1 for a signature that holds and 0 for one that
    ///   does not. It is negative for bytes that are no signature. Each of these two it is also where memory is out,
    ///   which OpenSSL's list of errors tells. Nil if OpenSSL could not be asked.
    static func answer(_ answer: Int32?) -> SignatureAnswer {
        guard answer != 1 || checksNothing || refusesEverything else { return .holds }
        let isOutOfMemory = OpenSSL.takeErrors()
        return answer == nil || isOutOfMemory || checksNothing ? .unchecked : .fails
    }
}

/// The two encodings of an ECDSA signature on P-256. RFC 7518, section 3.4 has `r` and `s` in 32 bytes each. OpenSSL
/// takes `SEQUENCE { INTEGER r, INTEGER s }` in DER (RFC 3279, section 2.2.3).
enum ECDSASignature {
    static let rawByteCount = 2 * scalarByteCount

    private static let scalarByteCount = 32
    /// Two headers of two bytes, two numbers with a zero in front, and the header around them.
    private static let maxDERByteCount = 2 + 2 * (2 + 1 + scalarByteCount)

    /// Lends the signature in DER. Whether `r` and `s` are in the range that a signature needs is for OpenSSL to say.
    /// - Parameter raw: of `rawByteCount` bytes.
    static func withDER<Result>(
        raw: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(byteCount: maxDERByteCount, alignment: 1) { der in
            var count = 2
            for start in [0, scalarByteCount] {
                let number = UnsafeRawBufferPointer(rebasing: raw[start..<start + scalarByteCount])
                count = append(number, to: der, at: count)
            }
            der[0] = 0x30
            der[1] = UInt8(truncatingIfNeeded: count - 2)
            return body(UnsafeRawBufferPointer(rebasing: der[..<count]))
        }
    }

    /// Appends an INTEGER: no zeros in front, but one before a bit that would make it negative.
    /// - Returns: where it ends.
    private static func append(
        _ number: UnsafeRawBufferPointer, to der: UnsafeMutableRawBufferPointer, at start: Int
    ) -> Int {
        var first = 0
        while first < number.count - 1, number[first] == 0 { first += 1 }
        let padding = number[first] >> 7
        let count = number.count - first + Int(padding)
        der[start] = 0x02
        der[start + 1] = UInt8(truncatingIfNeeded: count)
        var position = start + 2
        if padding == 1 {
            der[position] = 0
            position += 1
        }
        for index in first..<number.count {
            der[position] = number[index]
            position += 1
        }
        return position
    }

    /// The signature as `r` and `s`, from the DER that OpenSSL wrote; nil for anything else.
    static func raw(der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = scalar(&rest), let s = scalar(&rest), rest.isEmpty else { return nil }
        return r + s
    }

    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = rest.popFirst(), (1...33).contains(count), count <= rest.count else {
            return nil
        }
        let number = rest.prefix(Int(count)).drop { $0 == 0 }
        rest = rest.dropFirst(Int(count))
        guard number.count <= scalarByteCount else { return nil }
        return [UInt8](repeating: 0, count: scalarByteCount - number.count) + number
    }
}

/// Initialised contexts of one key for one operation.
///
/// OpenSSL searches its providers to initialise a context, so that is done once. A context serves one thread at a time
/// (EVP_PKEY_CTX_new(3)) and may be used again (EVP_PKEY_verify(3)). A copy of an initialised one costs no search.
///
/// `@unchecked Sendable`: `template` is only copied, and `idle` only changed, under the lock. A context is in the list
/// or with the one thread that took it. Each is freed once, at the end or where the list is full.
final class KeyContextPool: @unchecked Sendable {
    /// Most contexts that are kept for reuse. One for each thread that verifies at the same time is enough.
    static let maxIdle = 32

    enum Operation {
        case sign, verify
    }

    private let template: OpaquePointer
    private var idle: [OpaquePointer] = []
    private let lock = Mutex(())

    /// - Parameters:
    ///   - key: an `EVP_PKEY`, which OpenSSL keeps alive for its contexts.
    ///   - digest: the algorithm of the signed digests; others are refused for their length.
    ///   - usesRSA: whether signatures are padded by PKCS#1 v1.5 (RFC 8017, section 8.2).
    /// - Returns: nil if OpenSSL has no such operation for this key.
    init?(key: OpaquePointer, _ operation: Operation, digest: OpenSSL.Fetched, usesRSA: Bool) {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            ERR_clear_error()
            return nil
        }
        let started =
            switch operation {
            case .sign: EVP_PKEY_sign_init(context)
            case .verify: EVP_PKEY_verify_init(context)
            }
        guard started == 1, !usesRSA || EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(context, digest.pointer) == 1
        else {
            EVP_PKEY_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        template = context
    }

    deinit {
        idle.forEach(EVP_PKEY_CTX_free)
        EVP_PKEY_CTX_free(template)
    }

    /// Lends a context to the calling thread.
    /// - Returns: nil if memory is out.
    func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let context = take() else { return nil }
        defer { giveBack(context) }
        return body(context)
    }

    private func take() -> OpaquePointer? { lock.withLock { _ in idle.popLast() ?? EVP_PKEY_CTX_dup(template) } }

    private func giveBack(_ context: OpaquePointer) {
        let isKept = lock.withLock { _ in
            guard idle.count < Self.maxIdle else { return false }
            idle.append(context)
            return true
        }
        if !isKept { EVP_PKEY_CTX_free(context) }
    }
}
