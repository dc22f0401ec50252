internal import CLibcrypto
internal import Glibc

/// Reads the parts of a decoded certificate. Owns nothing: what it returns holds no pointer into the `X509`.
struct CertificateReader {
    struct Parts {
        let subject: [UInt8]
        let issuer: [UInt8]
        let serialNumber: [UInt8]
        let validity: ClosedRange<Int64>?
        let publicKey: PublicKey
        let isAuthority: Bool
        let pathLength: Int?
        let keyUsage: Certificate.KeyUsage?
        let extensions: [Certificate.Extension]
        let signatureAlgorithm: Certificate.SignatureAlgorithm?
    }

    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    /// Everything; nil if a part cannot be read, contradicts itself, or the version is another than 3.
    func parts() -> Parts? {
        guard X509_get_version(handle) == X509_VERSION_3 else { return nil }
        // Reads the extensions that OpenSSL knows, and notes whether one is damaged or stands twice.
        let flags = X509_get_extension_flags(handle)
        guard flags & UInt32(EXFLAG_INVALID) == 0, let extensions = extensions(),
            let subject = name(X509_get_subject_name(handle)), let issuer = name(X509_get_issuer_name(handle)),
            let serialNumber = serialNumber(), let first = moment(X509_get0_notBefore(handle)),
            let last = moment(X509_get0_notAfter(handle)), let key = X509_get0_pubkey(handle)
        else { return nil }
        EVP_PKEY_up_ref(key)
        let isAuthority = flags & UInt32(EXFLAG_CA) != 0
        let pathLength = X509_get_pathlen(handle)
        return Parts(
            subject: subject, issuer: issuer, serialNumber: serialNumber,
            validity: first <= last ? first...last : nil, publicKey: PublicKey(owning: key),
            isAuthority: isAuthority, pathLength: isAuthority && pathLength >= 0 ? pathLength : nil,
            keyUsage: flags & UInt32(EXFLAG_KUSAGE) == 0
                ? nil : Certificate.KeyUsage(rawValue: X509_get_key_usage(handle)),
            extensions: extensions, signatureAlgorithm: signatureAlgorithm())
    }

    private func extensions() -> [Certificate.Extension]? {
        var found: [Certificate.Extension] = []
        for index in 0..<max(X509_get_ext_count(handle), 0) {
            guard let entry = X509_get_ext(handle, index),
                let identifier = text(X509_EXTENSION_get_object(entry)),
                // RFC 5280, section 4.2: none stands twice, and which of two counts would be the reader's choice.
                !found.contains(where: { $0.identifier == identifier })
            else { return nil }
            found.append(
                Certificate.Extension(
                    identifier: identifier, isCritical: X509_EXTENSION_get_critical(entry) != 0))
        }
        return found
    }

    private func text(_ object: OpaquePointer?) -> String? {
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), object, 1)
        guard count > 0, count < text.count else { return nil }
        return String(validating: text.prefix(Int(count)), as: UTF8.self)
    }

    private func name(_ name: OpaquePointer?) -> [UInt8]? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard X509_NAME_get0_der(name, &bytes, &count) == 1, let bytes else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func serialNumber() -> [UInt8]? {
        guard let number = X509_get0_serialNumber(handle), let bytes = ASN1_STRING_get0_data(number) else { return nil }
        let count = Int(ASN1_STRING_length(number))
        return Array(UnsafeBufferPointer(start: bytes, count: count).drop { $0 == 0 })
    }

    /// Seconds since 1970. RFC 5280, section 4.1.2.5: seconds are there, fractions are not, and it is UTC.
    private func moment(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
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

    private func signatureAlgorithm() -> Certificate.SignatureAlgorithm? {
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
