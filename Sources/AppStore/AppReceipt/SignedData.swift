import SwiftASN1

/// The parts of a PKCS#7 signed-data envelope (RFC 2315 section 9.1, RFC 5652 section 5.1), as slices of what came.
public struct SignedData: Hashable, Sendable {
    /// What kind of content it is, encoded; ``dataOID`` for a receipt.
    let contentType: ArraySlice<UInt8>
    /// What was signed: the encapsulated content, without its OCTET STRING header.
    public let payload: ArraySlice<UInt8>
    /// The certificates, encoded, with the outer `[0]` tag; nil where there are none.
    public let certificates: ArraySlice<UInt8>?
    /// The signer infos, encoded, with the outer SET tag; nil where there are none.
    public let signerInfos: ArraySlice<UInt8>?

    /// Opens `SEQUENCE { OID signedData, [0] SEQUENCE { version, digests, content, [0] certificates, [1] CRLs, signers } }`.
    init(ber bytes: [UInt8]) throws(AppReceiptError) {
        guard let envelope = BoundedBER.parse(bytes[...]) else { throw .notASN1 }
        guard let parts = envelope.children(.sequence), parts.count == 2, Self.isOID(parts[0], Self.signedDataOID),
            let wrapped = parts[1].children(Self.contextTag0), wrapped.count == 1,
            let members = wrapped[0].children(.sequence), members.count >= 3,
            let content = members[2].children(.sequence), content.count == 2,
            let octets = content[1].children(Self.contextTag0), octets.count == 1,
            let payload = octets[0].octets
        else { throw .notSignedData }
        contentType = content[0].encodedBytes
        self.payload = payload
        certificates = members.dropFirst(3).first { $0.identifier == Self.contextTag0 }?.encodedBytes
        signerInfos = members.dropFirst(3).last { $0.identifier == .set }?.encodedBytes
    }

    private static func isOID(_ node: ASN1Node, _ encoded: [UInt8]) -> Bool {
        node.identifier == .objectIdentifier && node.encodedBytes.elementsEqual(encoded)
    }

    /// 1.2.840.113549.1.7.1, encoded: plain data.
    static let dataOID: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]

    private static let contextTag0 = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
    /// 1.2.840.113549.1.7.2, encoded.
    private static let signedDataOID: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02,
    ]
}

extension ASN1Node {
    /// The nodes inside a constructed node of the given kind; nil for any other node.
    func children(_ identifier: ASN1Identifier) -> [ASN1Node]? {
        guard self.identifier == identifier, case .constructed(let nodes) = content else { return nil }
        return Array(nodes)
    }

    /// The bytes of an OCTET STRING, joined where BER cut it into pieces; nil for any other node.
    var octets: ArraySlice<UInt8>? {
        guard identifier == .octetString else { return nil }
        // A failure means a piece that is no OCTET STRING, so this is none either.
        return try? ASN1OctetString(berEncoded: self).bytes
    }
}
