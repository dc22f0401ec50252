internal import CLibcrypto
internal import Glibc

/// An X.509 certificate of version 3 (RFC 5280), read strictly.
///
/// It says what it says; which certificates form a chain and may sign what is for its reader to decide. Everything is
/// read at once, so that nothing can fail later.
///
/// `@unchecked Sendable`: OpenSSL fills an `X509`'s caches while it is read here; afterwards it is not changed. It is
/// freed once, at the end of this object's life.
public final class Certificate: @unchecked Sendable {
    /// Largest certificate that is read, in bytes; Apple's have about 1 KB.
    public static let maxBytes = 8 << 10

    public struct Extension: Hashable, Sendable {
        /// In dots and digits.
        public let identifier: String
        public let isCritical: Bool
    }

    /// The uses that a key is for (RFC 5280, section 4.2.1.3), as far as chains ask for it.
    public struct KeyUsage: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        public static let digitalSignature = KeyUsage(rawValue: UInt32(KU_DIGITAL_SIGNATURE))
        public static let keyCertSign = KeyUsage(rawValue: UInt32(KU_KEY_CERT_SIGN))
    }

    /// How issuers sign, as far as it counts.
    public enum SignatureAlgorithm: Hashable, Sendable {
        case rsaWithSHA1, rsaWithSHA256, rsaWithSHA384, rsaWithSHA512
        case ecdsaWithSHA256, ecdsaWithSHA384, ecdsaWithSHA512
    }

    /// Its encoding, as it came.
    public let der: [UInt8]
    /// The names, encoded. They are compared byte by byte.
    public let subject: [UInt8]
    public let issuer: [UInt8]
    /// The magnitude's bytes, without zeros in front.
    public let serialNumber: [UInt8]
    /// First and last second of its validity, since 1970-01-01T00:00:00Z; nil if it ends before it begins.
    public let validity: ClosedRange<Int64>?
    public let publicKey: PublicKey
    /// Whether it may issue certificates.
    public let isAuthority: Bool
    /// How many further authorities may stand below it; nil for any number.
    public let pathLength: Int?
    /// Nil where it does not say, so that every use is allowed.
    public let keyUsage: KeyUsage?
    /// Its extensions, none of which stands twice.
    public let extensions: [Extension]
    /// How its issuer signed it; nil for algorithms that do not count.
    public let signatureAlgorithm: SignatureAlgorithm?

    package let handle: OpaquePointer

    /// Reads DER.
    ///
    /// - Throws: `CertificateUnreadable` for bytes that are not one certificate of version 3 in DER, of up to ``maxBytes``;
    ///   and for one with an extension that stands twice or contradicts itself.
    public init(der: some Collection<UInt8>) throws(CertificateUnreadable) {
        let der = Array(der)
        guard der.count <= Self.maxBytes, let handle = Self.decode(der) else {
            ERR_clear_error()
            throw CertificateUnreadable()
        }
        guard let parts = CertificateReader(handle).parts() else {
            ERR_clear_error()
            X509_free(handle)
            throw CertificateUnreadable()
        }
        self.der = der
        self.handle = handle
        subject = parts.subject
        issuer = parts.issuer
        serialNumber = parts.serialNumber
        validity = parts.validity
        publicKey = parts.publicKey
        isAuthority = parts.isAuthority
        pathLength = parts.pathLength
        keyUsage = parts.keyUsage
        extensions = parts.extensions
        signatureAlgorithm = parts.signatureAlgorithm
        ERR_clear_error()
    }

    /// Reads the certificates in a PEM text, in their order (RFC 7468, section 5). Text around them is passed over.
    ///
    /// - Throws: `CertificateUnreadable` if one of them cannot be read.
    public static func certificates(pem: String) throws(CertificateUnreadable) -> [Certificate] {
        guard let blocks = pemBlocks("CERTIFICATE", in: pem) else { throw CertificateUnreadable() }
        var certificates: [Certificate] = []
        for der in blocks { certificates.append(try Certificate(der: der)) }
        return certificates
    }

    deinit {
        X509_free(handle)
    }

    /// Whether the issuer's key signed this certificate. Names are not compared.
    ///
    /// It takes the algorithms of ``SignatureAlgorithm`` alone. Costs up to a millisecond.
    public func isSigned(by issuer: PublicKey) -> Bool {
        guard signatureAlgorithm != nil else { return false }
        return Authenticity.isConfirmed(X509_verify(handle, issuer.handle))
    }

    public func hasExtension(_ identifier: String) -> Bool {
        extensions.contains { $0.identifier == identifier }
    }

    /// Decodes bytes that are one certificate, from first to last. OpenSSL reads BER, too, and lets bytes follow.
    private static func decode(_ der: [UInt8]) -> OpaquePointer? {
        OpenSSL.begin()
        let decoded = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let start = bytes.baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = start
            guard let handle = d2i_X509(nil, &position, bytes.count) else { return nil }
            guard position == start + bytes.count else {
                X509_free(handle)
                return nil
            }
            return handle
        }
        guard let decoded else { return nil }
        guard encode(decoded) == der else {
            X509_free(decoded)
            return nil
        }
        return decoded
    }

    private static func encode(_ handle: OpaquePointer) -> [UInt8]? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(handle, &encoded)
        guard count > 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, nil, 0) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }
}

/// The bytes are no certificate of version 3 in DER, or one that contradicts itself.
public struct CertificateUnreadable: Error, Hashable, Sendable {
    public init() {}
}
