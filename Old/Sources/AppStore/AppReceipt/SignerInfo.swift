import SwiftASN1

/// Who signed a receipt, and how: the one SignerInfo of its envelope (RFC 2315, section 9.2; RFC 5652, section 5.3).
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
    let algorithm: SignatureAlgorithm
    /// The attributes that were signed in the payload's place, as they were signed; nil if the payload itself was.
    let signedAttributes: SignedAttributes?
    let signature: ArraySlice<UInt8>

    /// Reads the set of an envelope; nil for anything but one signer in a form that is known.
    ///
    /// Apple's receipts have one. Of two, one could be Apple's and the other anybody's, and which of them counts would be
    /// for the reader to choose, so more are refused.
    init?(set bytes: ArraySlice<UInt8>) {
        guard let signers = BoundedBER.parse(bytes)?.children(.set), signers.count == 1,
            var parts = signers[0].children(.sequence)?[...], parts.popFirst()?.identifier == .integer,
            let name = parts.popFirst()?.children(.sequence), name.count == 2,
            let serialNumber = name[1].unsignedInteger, let digest = Digest(parts.popFirst())
        else { return nil }
        var attributes: SignedAttributes?
        if parts.first?.identifier == Self.contextTag0, let node = parts.popFirst() {
            guard let read = SignedAttributes(node) else { return nil }
            attributes = read
        }
        guard let algorithm = SignatureAlgorithm(parts.popFirst()), algorithm.allows(digest),
            let signature = parts.popFirst()?.octets
        else { return nil }
        issuer = name[0].encodedBytes
        self.serialNumber = serialNumber
        self.digest = digest
        self.algorithm = algorithm
        signedAttributes = attributes
        self.signature = signature
    }

    private static let contextTag0 = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}

extension SignerInfo.Digest {
    /// Reads an AlgorithmIdentifier; nil for every other algorithm.
    fileprivate init?(_ node: ASN1Node?) {
        switch node?.algorithm {
        case [1, 3, 14, 3, 2, 26]: self = .sha1
        case [2, 16, 840, 1, 101, 3, 4, 2, 1]: self = .sha256
        default: return nil
        }
    }
}

/// How a signer signed, as far as it says so: Apple's receipts name the kind of key alone.
enum SignatureAlgorithm {
    case rsa
    case rsaWithSHA1, rsaWithSHA256
    case ecdsaWithSHA256

    /// Reads an AlgorithmIdentifier; nil for every other algorithm.
    fileprivate init?(_ node: ASN1Node?) {
        switch node?.algorithm {
        case [1, 2, 840, 113_549, 1, 1, 1]: self = .rsa
        case [1, 2, 840, 113_549, 1, 1, 5]: self = .rsaWithSHA1
        case [1, 2, 840, 113_549, 1, 1, 11]: self = .rsaWithSHA256
        case [1, 2, 840, 10045, 4, 3, 2]: self = .ecdsaWithSHA256
        default: return nil
        }
    }

    /// Whether it goes together with the digest that the signer names.
    fileprivate func allows(_ digest: SignerInfo.Digest) -> Bool {
        switch self {
        case .rsa: true
        case .rsaWithSHA1: digest == .sha1
        case .rsaWithSHA256, .ecdsaWithSHA256: digest == .sha256
        }
    }
}

extension ASN1Node {
    /// The algorithm that an AlgorithmIdentifier names (RFC 5280, section 4.1.1.2); nil for any other node.
    fileprivate var algorithm: ASN1ObjectIdentifier? {
        guard let first = children(.sequence)?.first else { return nil }
        // A failure means that it is no object identifier, so no algorithm is named.
        return try? ASN1ObjectIdentifier(derEncoded: first)
    }
}
