import SwiftASN1
import X509

/// A receipt's envelope: CMS SignedData (RFC 5652) over the payload, without signed attributes, as the App Store's are.
struct SignedReceipt {
    let payload: ArraySlice<UInt8>
    /// Of the first signer; DER for ECDSA, raw for RSA.
    let signature: ArraySlice<UInt8>

    /// Why bytes are not a receipt.
    enum ReadingError: Error {
        case notSignedData
    }

    /// Reads an envelope without checking anything it says.
    init(bytes: [UInt8]) throws {
        var content = try Self.members(BER.parse(bytes), as: .sequence)
        guard let type = content.next(), try ASN1ObjectIdentifier(derEncoded: type) == .signedData,
            let wrapper = content.next()
        else { throw ReadingError.notSignedData }
        var explicit = try Self.members(wrapper, as: .tagged(0))
        guard let signedData = explicit.next() else { throw ReadingError.notSignedData }
        var fields = try Self.members(signedData, as: .sequence)
        guard fields.next() != nil, fields.next() != nil, let encapsulated = fields.next() else {
            throw ReadingError.notSignedData
        }
        payload = try Self.payload(in: encapsulated)
        var signers: ASN1Node?
        while let field = fields.next() { signers = field }
        guard let signers else { throw ReadingError.notSignedData }
        signature = try Self.signature(in: signers)
    }

    private static func payload(in encapsulated: ASN1Node) throws -> ArraySlice<UInt8> {
        var parts = try members(encapsulated, as: .sequence)
        guard parts.next() != nil, let wrapper = parts.next() else { throw ReadingError.notSignedData }
        var explicit = try members(wrapper, as: .tagged(0))
        guard let octets = explicit.next() else { throw ReadingError.notSignedData }
        return try ASN1OctetString(berEncoded: octets).bytes
    }

    private static func signature(in signers: ASN1Node) throws -> ArraySlice<UInt8> {
        var list = try members(signers, as: .set)
        guard let signer = list.next() else { throw ReadingError.notSignedData }
        var fields = try members(signer, as: .sequence)
        while let field = fields.next() {
            if field.identifier == .octetString { return try ASN1OctetString(berEncoded: field).bytes }
        }
        throw ReadingError.notSignedData
    }

    private static func members(
        _ node: ASN1Node, as identifier: ASN1Identifier
    ) throws -> ASN1NodeCollection.Iterator {
        guard node.identifier == identifier, case .constructed(let members) = node.content else {
            throw ReadingError.notSignedData
        }
        return members.makeIterator()
    }
}

extension ASN1Identifier {
    static func tagged(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

extension ASN1ObjectIdentifier {
    /// id-signedData (RFC 5652, section 5.1).
    static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    /// ecdsa-with-SHA256 (RFC 5754, section 3.3).
    static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]
    /// rsaEncryption; what signers of SignedData name for PKCS #1 v1.5 (RFC 5754, section 3.2).
    static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
}
