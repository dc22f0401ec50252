import SwiftASN1

/// The certificates that a receipt carries, read no further than it takes to find the signer's and its issuer's
/// (RFC 5280, section 4.1). Whether they are worth anything is not decided here.
struct ReceiptCertificates {
    /// Most certificates that a receipt may carry; Apple's have three.
    static let maxCount = 8

    /// One certificate, as it came.
    struct Entry {
        let der: ArraySlice<UInt8>
        /// The integer's bytes, without leading zeros, which encoders write differently.
        let serialNumber: ArraySlice<UInt8>
        /// Names as they are encoded. A signer's name is a copy of its certificate's, so nothing is lost by comparing bytes.
        let issuer: ArraySlice<UInt8>
        let subject: ArraySlice<UInt8>
        /// Whether its issuer signed it over a SHA-1 digest.
        let isSignedWithSHA1: Bool
    }

    private let entries: [Entry]

    /// Reads the `[0]` of an envelope; nil if it is missing, or one of the certificates is too large or is none, or they are
    /// too many.
    init?(_ bytes: ArraySlice<UInt8>?) {
        guard let nodes = bytes.flatMap(BoundedBER.parse)?.children(Self.contextTag0), nodes.count <= Self.maxCount
        else { return nil }
        var entries: [Entry] = []
        for node in nodes {
            guard node.encodedBytes.count <= ChainVerifier.maxCertificateBytes, let entry = Entry(node) else {
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

    /// The certificates of whoever may have issued another; several where an authority was renewed under its name.
    func issuers(of entry: Entry) -> [Entry] {
        entries.filter { $0.subject == entry.issuer }
    }

    fileprivate static let contextTag0 = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}

extension ReceiptCertificates.Entry {
    /// Reads `SEQUENCE { SEQUENCE { [0] version, serial number, algorithm, issuer, validity, subject, ... }, algorithm, ... }`.
    fileprivate init?(_ node: ASN1Node) {
        guard let parts = node.children(.sequence), parts.count == 3, var fields = parts[0].children(.sequence)?[...]
        else { return nil }
        if fields.first?.identifier == ReceiptCertificates.contextTag0 { fields = fields.dropFirst() }
        guard let serialNumber = fields.popFirst()?.unsignedInteger, fields.popFirst() != nil,
            let issuer = fields.popFirst(), fields.popFirst() != nil, let subject = fields.popFirst(),
            let algorithm = parts[1].children(.sequence)?.first
        else { return nil }
        der = node.encodedBytes
        self.serialNumber = serialNumber
        self.issuer = issuer.encodedBytes
        self.subject = subject.encodedBytes
        isSignedWithSHA1 = algorithm.encodedBytes.elementsEqual(Self.sha1WithRSAEncryption)
    }

    /// 1.2.840.113549.1.1.5 (RFC 8017, appendix A.2.4), encoded.
    private static let sha1WithRSAEncryption: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05,
    ]
}

extension ASN1Node {
    /// The bytes of an INTEGER without leading zeros; nil for any other node.
    var unsignedInteger: ArraySlice<UInt8>? {
        guard identifier == .integer, case .primitive(let bytes) = content else { return nil }
        return bytes.drop { $0 == 0 }
    }
}
