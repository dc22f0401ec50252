/// The parts of a PKCS#7 signed-data envelope (RFC 2315 section 9.1, RFC 5652 section 5.1), as slices of what came.
public struct SignedData: Hashable, Sendable {
    /// The kind of the content, encoded; ``dataOID`` for a receipt.
    let contentType: ArraySlice<UInt8>
    /// The signed bytes: the encapsulated content, without its OCTET STRING header.
    public let payload: ArraySlice<UInt8>
    /// The certificates, encoded, with the outer `[0]` tag; nil where there are none.
    public let certificates: ArraySlice<UInt8>?
    /// The signer infos, encoded, with the outer SET tag; nil where there are none.
    public let signerInfos: ArraySlice<UInt8>?

    /// Opens `SEQUENCE { OID signedData, [0] SEQUENCE { version, digests, content, [0] certificates, [1] CRLs, signers } }`.
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
    private static let signedDataOID: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02,
    ]
    /// `[0]` and SET, whether constructed or not; those who read them insist.
    private static let certificatesTag: UInt8 = 0x80
    private static let signerInfosTag: UInt8 = 0x11
}
