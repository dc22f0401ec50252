internal import CLibcrypto
public import Cryptography

/// The contents of a certificate, right or wrong: nothing is checked.
public struct CertificateTemplate: Sendable {
    public struct Extension: Hashable, Sendable {
        /// In dots and digits.
        public var identifier: String
        public var isCritical: Bool
        public var value: [UInt8]

        public init(_ identifier: String, isCritical: Bool = false, value: [UInt8]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// Digests that signatures are made over.
    public enum Digest: Hashable, Sendable {
        case md5, sha1, sha256, sha384, sha512
    }

    /// Common names.
    public var subject: String
    public var issuer: String
    /// 1, 2 or 3.
    public var version = 3
    /// The bytes of the number, the highest one first; nil for a random one.
    public var serialNumber: [UInt8]?
    /// First and last second, since 1970.
    public var notBefore: Int64
    public var notAfter: Int64
    /// Texts that stand in place of `notBefore` and `notAfter`, as a UTCTime, such as `2601010000Z`.
    public var validityTexts: (notBefore: String, notAfter: String)?
    public var extensions: [Extension]
    /// Nil for SHA-384 by a key on P-384, else SHA-256.
    public var digest: Digest?

    public init(
        subject: String, issuer: String, notBefore: Int64, notAfter: Int64, extensions: [Extension] = []
    ) {
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.extensions = extensions
    }

    /// Makes the certificate of a key, in DER.
    public func certificate(for key: PublicKey, signedBy signer: PrivateKey) throws(MakingFailed) -> [UInt8] {
        guard let certificate = X509_new() else { throw MakingFailed("certificate") }
        defer { X509_free(certificate) }
        try fill(certificate)
        guard X509_set_pubkey(certificate, key.handle) == 1 else { throw MakingFailed("certificate's key") }
        for entry in extensions { try add(entry, to: certificate) }
        guard X509_sign(certificate, signer.handle, algorithm(of: signer)) > 0 else {
            throw MakingFailed("certificate's signature")
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &encoded)
        guard count > 0, let encoded else { throw MakingFailed("certificate") }
        defer { CRYPTO_free(encoded, nil, 0) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    private func fill(_ certificate: OpaquePointer) throws(MakingFailed) {
        let serialNumber = serialNumber ?? (0..<8).map { _ in UInt8.random(in: 1...0x7f) }
        guard X509_set_version(certificate, version - 1) == 1,
            ASN1_STRING_set(X509_get_serialNumber(certificate), serialNumber, Int32(serialNumber.count)) == 1,
            Self.set(X509_get_subject_name(certificate), subject), Self.set(X509_get_issuer_name(certificate), issuer),
            ASN1_TIME_set(X509_getm_notBefore(certificate), Int(notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), Int(notAfter)) != nil
        else { throw MakingFailed("certificate") }
        guard let validityTexts else { return }
        ASN1_STRING_set(X509_getm_notBefore(certificate), validityTexts.notBefore, -1)
        ASN1_STRING_set(X509_getm_notAfter(certificate), validityTexts.notAfter, -1)
    }

    private static func set(_ name: OpaquePointer?, _ text: String) -> Bool {
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, Array(text.utf8), Int32(text.utf8.count), -1, 0) == 1
    }

    private func add(_ entry: Extension, to certificate: OpaquePointer) throws(MakingFailed) {
        guard let identifier = OBJ_txt2obj(entry.identifier, 1), let value = ASN1_OCTET_STRING_new() else {
            throw MakingFailed("extension")
        }
        defer {
            ASN1_OBJECT_free(identifier)
            ASN1_OCTET_STRING_free(value)
        }
        ASN1_OCTET_STRING_set(value, entry.value, Int32(entry.value.count))
        let made = X509_EXTENSION_create_by_OBJ(nil, identifier, entry.isCritical ? 1 : 0, value)
        guard let made else { throw MakingFailed("extension") }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate, made, -1) == 1 else { throw MakingFailed("extension") }
    }

    private func algorithm(of signer: PrivateKey) -> OpaquePointer {
        switch digest ?? (signer.publicKey.kind == .p384 ? .sha384 : .sha256) {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }
}

extension CertificateTemplate.Extension {
    /// Whether it is an authority's (RFC 5280, section 4.2.1.9).
    public static func basicConstraints(
        isAuthority: Bool, pathLength: Int64? = nil, isCritical: Bool = true
    ) -> Self {
        let parts = (isAuthority ? [DER.boolean(true)] : []) + (pathLength.map { [DER.integer($0)] } ?? [])
        return Self("2.5.29.19", isCritical: isCritical, value: DER.sequence(parts))
    }

    /// The uses of the key (RFC 5280, section 4.2.1.3).
    public enum Use: UInt8, Sendable {
        case digitalSignature = 0x80
        case keyEncipherment = 0x20
        case keyAgreement = 0x08
        case keyCertSign = 0x04
        case crlSign = 0x02
    }

    public static func keyUsage(_ uses: Use..., isCritical: Bool = true) -> Self {
        let bits = uses.reduce(UInt8(0)) { $0 | $1.rawValue }
        let unused = UInt8(bits.trailingZeroBitCount & 7)
        return Self("2.5.29.15", isCritical: isCritical, value: DER.bitString([bits], unused: unused))
    }

    /// For servers of TLS (RFC 5280, section 4.2.1.12).
    public static var serverAuthentication: Self {
        Self("2.5.29.37", value: DER.sequence(DER.objectIdentifier("1.3.6.1.5.5.7.3.1")))
    }

    /// The names of a server (RFC 5280, section 4.2.1.6).
    public static func subjectAlternativeNames(hosts: [String], addresses: [[UInt8]]) -> Self {
        let hosts = hosts.map { DER.value(tag: 0x82, $0.utf8) }
        let addresses = addresses.map { DER.value(tag: 0x87, $0) }
        return Self("2.5.29.17", value: DER.sequence(hosts + addresses))
    }

    /// Marks the intermediate of Apple's developer relations.
    public static var appleIntermediateMarker: Self { Self("1.2.840.113635.100.6.2.1", value: DER.null) }
    /// Marks the leaves that sign receipts and transactions of the App Store.
    public static var appleLeafMarker: Self { Self("1.2.840.113635.100.6.11.1", value: DER.null) }
}
