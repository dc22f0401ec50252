/// The parts of a PKCS#7 signed-data envelope (RFC 2315 section 9.1, RFC 5652 section 5.1), as slices of the input.
public struct SignedData: Hashable, Sendable {
    /// The kind of the content, encoded; ``dataOID`` for a receipt.
    let contentType: ArraySlice<UInt8>
    /// The signed bytes: the encapsulated content, without its OCTET STRING header.
    public let payload: ArraySlice<UInt8>
    /// The certificates, encoded, with the outer `[0]` tag; nil where there are none.
    public let certificates: ArraySlice<UInt8>?
    /// The signer infos, encoded, with the outer SET tag; nil where there are none.
    let signerInfos: ArraySlice<UInt8>?

    /// Opens
    /// `SEQUENCE { OID signedData, [0] SEQUENCE { version, digests, content, [0] certificates, [1] CRLs, signers } }`.
    init(ber bytes: [UInt8]) throws(AppReceiptError) {
        let span = bytes.span
        guard let envelope = BERValue(span) else { throw .notASN1 }
        guard var parts = envelope.members(BERValue.sequence), let type = parts.next(in: span),
            bytes[type.encoded].elementsEqual(Self.signedDataOID),
            var wrapped = parts.last(in: span)?.members(BERValue.contextTag0),
            var members = wrapped.last(in: span)?.members(BERValue.sequence), members.next(in: span) != nil,
            members.next(in: span) != nil, var content = members.next(in: span)?.members(BERValue.sequence),
            let contentType = content.next(in: span),
            var octets = content.last(in: span)?.members(BERValue.contextTag0),
            let payload = octets.last(in: span)?.octets(in: bytes[...])
        else { throw .notSignedData }
        self.contentType = bytes[contentType.encoded]
        self.payload = payload
        var certificates: BERValue?
        var signerInfos: BERValue?
        while let member = members.next(in: span) {
            switch member.tag {
            case Self.certificatesTag: certificates = certificates ?? member
            case Self.signerInfosTag: signerInfos = member
            default: break
            }
        }
        self.certificates = certificates.map { bytes[$0.encoded] }
        self.signerInfos = signerInfos.map { bytes[$0.encoded] }
    }

    /// 1.2.840.113549.1.7.1, encoded: plain data.
    static let dataOID: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]

    /// 1.2.840.113549.1.7.2, encoded.
    private static let signedDataOID: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
    /// `[0]` and SET, whether constructed or not; those who read them insist.
    private static let certificatesTag: UInt8 = 0x80
    private static let signerInfosTag: UInt8 = 0x11
}

/// The signer of a receipt: the one SignerInfo of its envelope (RFC 2315, section 9.2; RFC 5652, section 5.3).
struct SignerInfo {
    /// Digests that receipts are signed with.
    enum Digest {
        case sha1, sha256
    }

    /// The name of the certificate's issuer, as it is encoded.
    let issuer: ArraySlice<UInt8>
    /// The integer's bytes, without leading zeros, which encoders write differently.
    let serialNumber: ArraySlice<UInt8>
    let digest: Digest
    let algorithm: Algorithm
    /// The attributes that were signed in the payload's place, as they were signed; nil if the payload itself was.
    let signedAttributes: SignedAttributes?
    let signature: ArraySlice<UInt8>

    /// Reads the set of an envelope; nil for anything but one signer in a known form.
    ///
    /// Apple's receipts have one signer. Of two signers one could be Apple's and the other an attacker's, and readers
    /// could choose differently. So more are refused. Unsigned attributes are ignored.
    init?(set bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        guard let signers = BERValue(span)?.children(BERValue.set, in: span), signers.count == 1,
            var parts = signers[0].children(BERValue.sequence, in: span)?[...],
            parts.popFirst()?.identifier == BERValue.integer,
            let name = parts.popFirst()?.children(BERValue.sequence, in: span), name.count == 2,
            let serialNumber = name[1].unsignedInteger(in: bytes),
            let digest = Digest(parts.popFirst()?.algorithm(in: bytes))
        else { return nil }
        var attributes: SignedAttributes?
        if parts.first?.identifier == BERValue.contextTag0, let value = parts.popFirst() {
            guard let read = SignedAttributes(value, in: bytes) else { return nil }
            attributes = read
        }
        guard let algorithm = Algorithm(parts.popFirst()?.algorithm(in: bytes)), algorithm.allows(digest),
            let signature = parts.popFirst()?.octets(in: bytes),
            parts.isEmpty || (parts.count == 1 && parts.first?.identifier == Self.unsignedAttributes)
        else { return nil }
        issuer = bytes.slice(name[0].encoded)
        self.serialNumber = serialNumber
        self.digest = digest
        self.algorithm = algorithm
        signedAttributes = attributes
        self.signature = signature
    }

    /// `[1]`, constructed.
    private static let unsignedAttributes: UInt8 = 0xa1
}

extension SignerInfo.Digest {
    /// The digest of an identifier; nil for every other one.
    fileprivate init?(_ identifier: ArraySlice<UInt8>?) {
        switch identifier.map(Array.init) {
        case Self.sha1Identifier: self = .sha1
        case Self.sha256Identifier: self = .sha256
        default: return nil
        }
    }

    /// 1.3.14.3.2.26.
    private static let sha1Identifier: [UInt8] = [0x2b, 0x0e, 0x03, 0x02, 0x1a]
    /// 2.16.840.1.101.3.4.2.1.
    private static let sha256Identifier: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
}

extension SignerInfo {
    /// How a signer signed, by its own words: Apple's receipts name only the kind of key.
    enum Algorithm {
        case rsa
        case rsaWithSHA1, rsaWithSHA256
        case ecdsaWithSHA256

        /// The algorithm of an identifier; nil for every other one.
        fileprivate init?(_ identifier: ArraySlice<UInt8>?) {
            switch identifier.map(Array.init) {
            case Self.pkcs1 + [1]: self = .rsa
            case Self.pkcs1 + [5]: self = .rsaWithSHA1
            case Self.pkcs1 + [11]: self = .rsaWithSHA256
            case Self.ecdsaWithSHA256Identifier: self = .ecdsaWithSHA256
            default: return nil
            }
        }

        /// 1.2.840.113549.1.1.
        private static let pkcs1: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01]
        /// 1.2.840.10045.4.3.2.
        private static let ecdsaWithSHA256Identifier: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]

        /// Whether it goes together with the digest that the signer names.
        fileprivate func allows(_ digest: SignerInfo.Digest) -> Bool {
            switch self {
            case .rsa: true
            case .rsaWithSHA1: digest == .sha1
            case .rsaWithSHA256, .ecdsaWithSHA256: digest == .sha256
            }
        }
    }
}

/// The attributes of a signer that are signed (RFC 5652, section 5.4).
struct SignedAttributes {
    /// Most that a signer may have; Apple's have three. Each is compared with all others, before any signature is
    /// verified.
    static let maxCount = 64

    /// The signed bytes: the set with its own tag instead of the tag in the envelope.
    let signed: [UInt8]
    /// The digest of the payload that the signer saw.
    let messageDigest: ArraySlice<UInt8>

    /// Nil if one of the two required attributes is missing or stands twice. Nil also for too many attributes, or if
    /// the content has another type.
    fileprivate init?(_ value: BERValue, in bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        guard let members = value.children(BERValue.contextTag0, in: span), members.count <= Self.maxCount
        else { return nil }
        var values: [(type: ArraySlice<UInt8>, value: BERValue)] = []
        for member in members {
            guard let parts = member.children(BERValue.sequence, in: span), parts.count == 2,
                let type = parts[0].objectIdentifier(in: bytes), let held = parts[1].children(BERValue.set, in: span),
                held.count == 1, !values.contains(where: { $0.type == type })
            else { return nil }
            values.append((type, held[0]))
        }
        guard let content = values.first(where: { $0.type.elementsEqual(Self.contentType) })?.value,
            bytes.slice(content.encoded).elementsEqual(SignedData.dataOID),
            let digest = values.first(where: { $0.type.elementsEqual(Self.messageDigestType) })?.value.octets(in: bytes)
        else { return nil }
        messageDigest = digest
        var signed = Array(bytes.slice(value.encoded))
        signed[0] = BERValue.set
        self.signed = signed
    }

    /// 1.2.840.113549.1.9.3 and 4.
    private static let contentType: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03]
    private static let messageDigestType: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04]
}

/// A receipt's certificates, read only as far as needed to find the signer's and its issuer's (RFC 5280, section 4.1).
/// Whether they are worth anything is not decided here.
struct ReceiptCertificates {
    /// Most certificates that a receipt may carry; Apple's have three.
    static let maxCount = 8

    /// One certificate, as it came.
    struct Entry {
        let der: ArraySlice<UInt8>
        /// The integer's bytes, without leading zeros, which encoders write differently.
        let serialNumber: ArraySlice<UInt8>
        /// Names as they are encoded. A signer's name is a copy of its certificate's, so nothing is lost by comparing
        /// bytes.
        let issuer: ArraySlice<UInt8>
        let subject: ArraySlice<UInt8>
    }

    private let entries: [Entry]

    /// Reads the `[0]` of an envelope. Nil if it is missing, has too many certificates, or one is too large or no
    /// certificate.
    init?(_ bytes: ArraySlice<UInt8>?) {
        guard let bytes, let values = BERValue(bytes.span)?.children(BERValue.contextTag0, in: bytes.span),
            values.count <= Self.maxCount
        else { return nil }
        var entries: [Entry] = []
        for value in values {
            guard value.encoded.count <= ChainVerifier.maxCertificateBytes, let entry = Entry(value, in: bytes) else {
                return nil
            }
            entries.append(entry)
        }
        self.entries = entries
    }

    /// The certificate that a signer names by its issuer and serial number.
    func certificate(of signer: SignerInfo) -> Entry? {
        entries.first { $0.serialNumber == signer.serialNumber && $0.issuer == signer.issuer }
    }

    /// The certificates of all that may have issued another; several where an authority was renewed under its name.
    func issuers(of entry: Entry) -> [Entry] { entries.filter { $0.subject == entry.issuer } }
}

extension ReceiptCertificates.Entry {
    /// Reads `SEQUENCE { SEQUENCE { [0] version, serial number, algorithm, issuer, validity, subject, ... }, ... }`.
    fileprivate init?(_ value: BERValue, in bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        guard let parts = value.children(BERValue.sequence, in: span), parts.count == 3,
            var fields = parts[0].children(BERValue.sequence, in: span)?[...]
        else { return nil }
        if fields.first?.identifier == BERValue.contextTag0 { fields = fields.dropFirst() }
        guard let serialNumber = fields.popFirst()?.unsignedInteger(in: bytes), fields.popFirst() != nil,
            let issuer = fields.popFirst(), fields.popFirst() != nil, let subject = fields.popFirst()
        else { return nil }
        der = bytes.slice(value.encoded)
        self.serialNumber = serialNumber
        self.issuer = bytes.slice(issuer.encoded)
        self.subject = bytes.slice(subject.encoded)
    }
}
