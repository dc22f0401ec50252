internal import CLibcrypto
internal import Glibc

/// An X.509 certificate of version 3 (RFC 5280), read strictly.
///
/// Callers decide which certificates form a chain and what they may sign. Everything is read at once, so that nothing
/// can fail later.
///
/// `@unchecked Sendable`: OpenSSL fills an `X509`'s caches while it is read here. Afterwards it is not changed. It is
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

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        public static let digitalSignature = KeyUsage(rawValue: UInt32(KU_DIGITAL_SIGNATURE))
        public static let keyCertSign = KeyUsage(rawValue: UInt32(KU_KEY_CERT_SIGN))
    }

    /// How issuers sign, as far as it counts.
    public enum IssuerAlgorithm: Hashable, Sendable {
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
    public let isAuthority: Bool
    /// How many further authorities may stand below it; nil for any number.
    public let pathLength: Int?
    /// Nil where it does not say, so that every use is allowed.
    public let keyUsage: KeyUsage?
    /// Its extensions, none of which stands twice.
    public let extensions: [Extension]
    /// How its issuer signed it; nil for algorithms that do not count.
    public let signatureAlgorithm: IssuerAlgorithm?

    package let handle: OpaquePointer

    /// Reads DER.
    /// - Throws: `CertificateUnreadable` for bytes that are not one certificate of version 3 in DER, of up to
    ///   ``maxBytes``. It is also thrown for a certificate with an extension that stands twice or contradicts itself,
    ///   and where memory is out, which it says.
    public init(der: some Collection<UInt8>) throws(CertificateUnreadable) {
        let der = Array(der)
        ERR_clear_error()
        guard der.count <= Self.maxBytes, let handle = Self.decode(der) else {
            throw CertificateUnreadable(isForLackOfMemory: OpenSSL.takeErrors())
        }
        defer { ERR_clear_error() }
        let reader = CertificateReader(handle)
        // Reads the extensions that OpenSSL knows, and sees whether one is damaged or stands twice.
        let flags = X509_get_extension_flags(handle)
        guard X509_get_version(handle) == X509_VERSION_3, flags & UInt32(EXFLAG_INVALID) == 0,
            let extensions = reader.extensions(), let subject = reader.name(X509_get_subject_name(handle)),
            let issuer = reader.name(X509_get_issuer_name(handle)), let serialNumber = reader.serialNumber(),
            let first = reader.moment(X509_get0_notBefore(handle)),
            let last = reader.moment(X509_get0_notAfter(handle)), let key = X509_get0_pubkey(handle)
        else {
            X509_free(handle)
            throw CertificateUnreadable(isForLackOfMemory: OpenSSL.takeErrors())
        }
        EVP_PKEY_up_ref(key)
        self.der = der
        self.handle = handle
        self.subject = subject
        self.issuer = issuer
        self.serialNumber = serialNumber
        self.extensions = extensions
        validity = first <= last ? first...last : nil
        publicKey = PublicKey(owning: key)
        isAuthority = flags & UInt32(EXFLAG_CA) != 0
        let length = X509_get_pathlen(handle)
        pathLength = isAuthority && length >= 0 ? length : nil
        keyUsage = flags & UInt32(EXFLAG_KUSAGE) == 0 ? nil : KeyUsage(rawValue: X509_get_key_usage(handle))
        signatureAlgorithm = reader.signatureAlgorithm()
    }

    /// Reads the certificates in a PEM text, in their order (RFC 7468, section 5). Text around them is passed over.
    /// - Throws: `CertificateUnreadable` if one of them cannot be read.
    public static func certificates(pem: String) throws(CertificateUnreadable) -> [Certificate] {
        guard let blocks = pemBlocks("CERTIFICATE", in: pem) else { throw CertificateUnreadable() }
        return try blocks.map { der throws(CertificateUnreadable) in try Certificate(der: der) }
    }

    deinit { X509_free(handle) }

    /// Whether the issuer's key signed this certificate. Names are not compared.
    ///
    /// It takes the algorithms of ``IssuerAlgorithm`` alone. Costs up to a millisecond.
    public func answer(signedBy issuer: PublicKey) -> SignatureAnswer {
        guard let signatureAlgorithm else { return .fails }
        guard signatureAlgorithm != .rsaWithSHA1 || !issuer.lacksSHA1 else { return .unchecked }
        ERR_clear_error()
        return Authenticity.answer(X509_verify(handle, issuer.handle))
    }

    /// Whether a check says that the issuer's key signed this, for those who refuse nothing for good.
    public func isSigned(by issuer: PublicKey) -> Bool { answer(signedBy: issuer) == .holds }

    /// Whether it has an extension, critical or not.
    /// - Parameter identifier: in dots and digits, as ``Extension/identifier``.
    public func hasExtension(_ identifier: String) -> Bool { extensions.contains { $0.identifier == identifier } }

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
    /// Memory is out, so the same bytes may be read at another moment.
    public let isForLackOfMemory: Bool

    public init(isForLackOfMemory: Bool = false) { self.isForLackOfMemory = isForLackOfMemory }
}

/// Reads the parts of a decoded certificate. It owns nothing, and its results hold no pointer into the `X509`.
private struct CertificateReader {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    func extensions() -> [Certificate.Extension]? {
        var found: [Certificate.Extension] = []
        for index in 0..<max(X509_get_ext_count(handle), 0) {
            guard let entry = X509_get_ext(handle, index), let identifier = text(X509_EXTENSION_get_object(entry)),
                // RFC 5280, section 4.2: none stands twice, and which of two counts would be the reader's choice.
                !found.contains(where: { $0.identifier == identifier })
            else { return nil }
            found.append(.init(identifier: identifier, isCritical: X509_EXTENSION_get_critical(entry) != 0))
        }
        return found
    }

    private func text(_ object: OpaquePointer?) -> String? {
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), object, 1)
        guard count > 0, count < text.count else { return nil }
        return String(validating: text.prefix(Int(count)), as: UTF8.self)
    }

    func name(_ name: OpaquePointer?) -> [UInt8]? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard X509_NAME_get0_der(name, &bytes, &count) == 1, let bytes else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    func serialNumber() -> [UInt8]? {
        guard let number = X509_get0_serialNumber(handle), let bytes = ASN1_STRING_get0_data(number) else { return nil }
        let count = Int(ASN1_STRING_length(number))
        return Array(UnsafeBufferPointer(start: bytes, count: count).drop { $0 == 0 })
    }

    /// Seconds since 1970. RFC 5280, section 4.1.2.5: seconds are there, fractions are not, and it is UTC.
    func moment(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time, let bytes = ASN1_STRING_get0_data(time) else { return nil }
        let text = UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(time)))
        let digits =
            switch ASN1_STRING_type(time) {
            case V_ASN1_UTCTIME: 12
            case V_ASN1_GENERALIZEDTIME: 14
            default: -1
            }
        guard text.count == digits + 1, text.last == UInt8(ascii: "Z"),
            text.dropLast().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }

    func signatureAlgorithm() -> Certificate.IssuerAlgorithm? {
        switch X509_get_signature_nid(handle) {
        case NID_sha1WithRSAEncryption: .rsaWithSHA1
        case NID_sha256WithRSAEncryption: .rsaWithSHA256
        case NID_sha384WithRSAEncryption: .rsaWithSHA384
        case NID_sha512WithRSAEncryption: .rsaWithSHA512
        case NID_ecdsa_with_SHA256: .ecdsaWithSHA256
        case NID_ecdsa_with_SHA384: .ecdsaWithSHA384
        case NID_ecdsa_with_SHA512: .ecdsaWithSHA512
        default: nil
        }
    }
}
