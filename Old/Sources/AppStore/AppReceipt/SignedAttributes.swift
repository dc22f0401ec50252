import SwiftASN1

/// The attributes of a signer that are signed (RFC 5652, section 5.4).
struct SignedAttributes {
    /// What is signed: the set with its own tag instead of the one that it stands under.
    let signed: [UInt8]
    /// The digest of the payload that the signer saw.
    let messageDigest: ArraySlice<UInt8>

    /// Nil if one of the two attributes that must be there is missing or stands twice, or the content is of another type.
    init?(_ node: ASN1Node) {
        guard case .constructed(let members) = node.content else { return nil }
        var types: [ASN1ObjectIdentifier: ASN1Node] = [:]
        for member in members {
            // A failure means a type that is no object identifier, so it is no attribute.
            guard let parts = member.children(.sequence), parts.count == 2,
                let type = try? ASN1ObjectIdentifier(derEncoded: parts[0]), let values = parts[1].children(.set),
                values.count == 1, types.updateValue(values[0], forKey: type) == nil
            else { return nil }
        }
        guard let content = types[Self.contentType], content.encodedBytes.elementsEqual(SignedData.dataOID),
            let digest = types[Self.messageDigest]?.octets
        else { return nil }
        messageDigest = digest
        var signed = Array(node.encodedBytes)
        // The tag is of one byte: it is `[0]`, or there would be no attributes.
        signed[0] = 0x31
        self.signed = signed
    }

    private static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 3]
    private static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]
}
