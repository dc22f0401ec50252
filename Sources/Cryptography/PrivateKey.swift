internal import CLibcrypto

/// A private key that signs, such as the `.p8` of the App Store Server API.
///
/// OpenSSL searches its providers for the nonce's generator at each signature. That is acceptable, because a token is
/// used for many calls.
///
/// The key is never part of a description.
///
/// `@unchecked Sendable`: the `EVP_PKEY` is never changed once it is here. OpenSSL allows its use by many threads, each
/// with its own context. It is freed once, at the end of this object's life.
public final class PrivateKey: @unchecked Sendable {
    public static let maxBytes = 16 << 10

    public enum Unusable: Error, Hashable, Sendable {
        /// No private key in PEM, damaged, or locked with a password.
        case unreadable
        /// A key of another kind or curve than P-256.
        case notP256
    }

    package let handle: OpaquePointer
    private let es256: KeyContextPool?

    /// The public half of the key.
    public let publicKey: PublicKey

    package init(owning handle: OpaquePointer) {
        self.handle = handle
        // Two owners from here on, each of which gives one reference back.
        EVP_PKEY_up_ref(handle)
        publicKey = PublicKey(owning: handle)
        es256 =
            publicKey.kind == .p256 ? KeyContextPool(key: handle, .sign, digest: OpenSSL.sha256, usesRSA: false) : nil
    }

    /// A key on P-256 from PEM text: `PRIVATE KEY` (RFC 7468, section 10), which Apple hands out, or `EC PRIVATE KEY`.
    public convenience init(p256PEM pem: String) throws(Unusable) {
        guard pem.utf8.count <= Self.maxBytes,
            let handle = withMemoryBIO(pem, { PEM_read_bio_PrivateKey($0, nil, refusePassword, nil) })
        else {
            ERR_clear_error()
            throw .unreadable
        }
        self.init(owning: handle)
        guard es256 != nil else { throw .notP256 }
        guard isPair else { throw .unreadable }
    }

    deinit { EVP_PKEY_free(handle) }

    /// Whether the key's halves belong together. A file has both halves, and OpenSSL does not compare them: a damaged
    /// key would make signatures that nobody accepts.
    private var isPair: Bool {
        defer { ERR_clear_error() }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_pairwise_check(context) == 1
    }

    /// An ES256 signature (RFC 7518, section 3.4), 64 bytes; nil if this is no key on P-256, or OpenSSL has no
    /// randomness.
    public func es256Signature(of digest: SHA256Digest) -> [UInt8]? {
        ecdsaSignature(of: digest).flatMap(ECDSASignature.raw(der:))
    }

    /// An ECDSA signature in DER (RFC 3279, section 2.2.3); nil as above.
    public func ecdsaSignature(of digest: SHA256Digest) -> [UInt8]? {
        let signature = es256?.withContext { context -> [UInt8]? in
            digest.withUnsafeBytes { digest in
                let input = digest.baseAddress?.assumingMemoryBound(to: UInt8.self)
                var count = 128
                var signature = [UInt8](repeating: 0, count: count)
                guard EVP_PKEY_sign(context, &signature, &count, input, digest.count) == 1 else { return nil }
                return Array(signature[..<count])
            }
        }
        guard let signature = signature ?? nil else {
            ERR_clear_error()
            return nil
        }
        return signature
    }
}

extension PrivateKey: Equatable, CustomStringConvertible, CustomReflectable {
    public static func == (left: PrivateKey, right: PrivateKey) -> Bool { left.publicKey == right.publicKey }
    public var description: String { "PrivateKey" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
