internal import CLibcrypto
public import Cryptography

/// OpenSSL refused to make it.
public struct MakingFailed: Error, Hashable, Sendable {
    /// The thing that could not be made.
    public let what: String

    init(_ what: String) {
        ERR_clear_error()
        self.what = what
    }
}

/// Keys that can be made.
public enum KeyKind: Hashable, Sendable {
    case p256, p384
    /// P-256 with its curve spelled out in the key instead of named (CVE-2020-0601).
    case p256SpelledOut
    case rsa(bits: Int)
}

extension PrivateKey {
    /// A new key. RSA keys take a tenth of a second and more.
    public static func make(_ kind: KeyKind) throws(MakingFailed) -> PrivateKey {
        OpenSSL.begin()
        let name = if case .rsa = kind { "RSA" } else { "EC" }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, name, nil) else { throw MakingFailed("key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, set(kind, context) == 1, EVP_PKEY_generate(context, &key) == 1,
            let key
        else { throw MakingFailed("key") }
        return PrivateKey(owning: key)
    }

    private static func set(_ kind: KeyKind, _ context: OpaquePointer) -> Int32 {
        switch kind {
        case .p256: EVP_PKEY_CTX_set_group_name(context, "P-256")
        case .p384: EVP_PKEY_CTX_set_group_name(context, "P-384")
        case .p256SpelledOut:
            EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
                ? EVP_PKEY_CTX_set_ec_param_enc(context, OPENSSL_EC_EXPLICIT_CURVE) : 0
        case .rsa(let bits): EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(clamping: bits))
        }
    }

    /// Reads a key of any kind from PEM, not encrypted.
    public static func read(pem: String) throws(MakingFailed) -> PrivateKey {
        let bytes = Array(pem.utf8)
        let key = bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(buffer) }
            // Without a function OpenSSL would ask the terminal for an encrypted key's password.
            return PEM_read_bio_PrivateKey(buffer, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let key else { throw MakingFailed("key") }
        return PrivateKey(owning: key)
    }

    /// The key in PEM, `PRIVATE KEY`, as Apple hands out `.p8` files.
    public var pem: String {
        get throws(MakingFailed) {
            let text = textWritten { PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) }
            guard let text else { throw MakingFailed("PEM") }
            return text
        }
    }

    /// A signature of any kind of key over any digest: PKCS#1 v1.5 for RSA, else ECDSA in DER.
    public func signature(of digest: MessageDigest) throws(MakingFailed) -> [UInt8] {
        switch digest {
        case .sha1(let digest): try signature(of: digest, EVP_sha1())
        case .sha256(let digest): try signature(of: digest.bytes, EVP_sha256())
        }
    }

    private func signature(of digest: [UInt8], _ algorithm: OpaquePointer) throws(MakingFailed) -> [UInt8] {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { throw MakingFailed("signature") }
        defer { EVP_PKEY_CTX_free(context) }
        var count = 1024
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1,
            EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1
        else { throw MakingFailed("signature") }
        return Array(signature[..<count])
    }
}

extension PublicKey {
    /// The key in PEM, `PUBLIC KEY`.
    public var pem: String {
        get throws(MakingFailed) {
            guard let text = textWritten({ PEM_write_bio_PUBKEY($0, handle) }) else { throw MakingFailed("PEM") }
            return text
        }
    }

    /// The point of a key on an elliptic curve, not compressed: 65 bytes on P-256.
    public var point: [UInt8] {
        get throws(MakingFailed) {
            var point = [UInt8](repeating: 0, count: 256)
            var count = 0
            let result = EVP_PKEY_get_octet_string_param(handle, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count)
            guard result == 1 else { throw MakingFailed("point") }
            return Array(point[..<count])
        }
    }
}

extension Certificate {
    public var pem: String {
        get throws(MakingFailed) {
            guard let text = textWritten({ PEM_write_bio_X509($0, handle) }) else { throw MakingFailed("PEM") }
            return text
        }
    }
}

/// The text that OpenSSL writes into memory; nil if it could not.
func textWritten(_ body: (OpaquePointer) -> Int32) -> String? {
    guard let bio = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(bio) }
    guard body(bio) == 1 else {
        ERR_clear_error()
        return nil
    }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = BIO_read(bio, &piece, Int32(piece.count))
        guard count > 0 else { break }
        text += piece[..<Int(count)]
    }
    return String(validating: text, as: UTF8.self)
}

/// An HMAC with SHA-256 (RFC 2104). A public key is misused as its key where a token names its own algorithm.
public func hmacSHA256(_ message: some Collection<UInt8>, key: [UInt8]) -> [UInt8]? {
    let message = Array(message)
    var code = [UInt8](repeating: 0, count: 32)
    var count = 0
    let result = EVP_Q_mac(
        nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &count)
    return result == nil ? nil : code
}

/// A private key of the kind that App Store Connect gives out, made for tests.
public enum SampleKey {
    public static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBxpef9DWetR3yVKw
        Qww8sAedmOJYzybjYy5m9lWQI0GhRANCAATqW57kLqz4KmlrUMBTQ0+E38BWUEys
        3IVIxGXwnfu7a6NXU9fh+WF1X2CnGN395QeuAeXz353VDbkD9iZuH91R
        -----END PRIVATE KEY-----
        """
}
