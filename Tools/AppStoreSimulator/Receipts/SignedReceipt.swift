internal import CertificateMaking

/// A receipt's envelope: CMS SignedData (RFC 5652) over the payload, without signed attributes, as the App Store's are.
struct SignedReceipt {
    let payload: ArraySlice<UInt8>
    /// Of the first signer; DER for ECDSA, raw for RSA.
    let signature: ArraySlice<UInt8>

    /// id-signedData (RFC 5652, section 5.1), DER.
    static let signedDataType = DER.objectIdentifier("1.2.840.113549.1.7.2")

    /// Reads an envelope without checking anything it says.
    init(bytes: [UInt8]) throws(DERReader.Malformed) {
        let content = try DERReader(bytes[...]).members(of: DERTag.sequence)
        guard content.count == 2, content[0].tag == DERTag.objectIdentifier,
            content[0].contents.elementsEqual(Self.signedDataType.dropFirst(2))
        else { throw DERReader.Malformed() }
        let fields = try content[1].member(of: DERTag.context0).members(of: DERTag.sequence)
        guard fields.count >= 4 else { throw DERReader.Malformed() }
        let encapsulated = try fields[2].members(of: DERTag.sequence)
        guard encapsulated.count == 2 else { throw DERReader.Malformed() }
        payload = try encapsulated[1].member(of: DERTag.context0).octets
        let signers = try fields[fields.count - 1].members(of: DERTag.set)
        guard let signer = try signers.first?.members(of: DERTag.sequence),
            let signature = signer.first(where: { $0.tag == DERTag.octetString })
        else { throw DERReader.Malformed() }
        self.signature = signature.contents
    }
}
