import SwiftASN1
import X509
import _CryptoExtras

/// Signs payloads with an authority's key, and tells its own signatures from others.
struct ReceiptSigner: Sendable {
    private let key: Certificate.PrivateKey
    private let publicKey: Certificate.PublicKey
    private let algorithm: Certificate.SignatureAlgorithm
    private let isRSA: Bool
    /// `[0] IMPLICIT` set of the chain's certificates, the same in every receipt.
    private let certificates: [UInt8]
    /// The leaf's issuer and serial number, by which a signer is named.
    private let signerName: [UInt8]
    /// The version and the digest algorithms, which open SignedData.
    private let opening: [UInt8]
    /// id-signedData (RFC 5652, section 5.1), DER.
    private static let signedDataType: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
    /// id-data (RFC 5652, section 4), DER.
    private static let dataType: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]

    init(authority: SimulatorAuthority) throws {
        let chain = authority.receiptChain
        key = authority.receiptKey
        publicKey = chain.leaf.publicKey
        isRSA = _RSA.Signing.PublicKey(chain.leaf.publicKey) != nil
        algorithm = isRSA ? .sha256WithRSAEncryption : .ecdsaWithSHA256
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .tagged(0)) { set in
            for certificate in [chain.leaf, chain.intermediate, chain.root] { try set.serialize(certificate) }
        }
        certificates = serializer.serializedBytes
        serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { name in
            try name.serialize(chain.leaf.issuer)
            try name.serialize(chain.leaf.serialNumber.bytes)
        }
        signerName = serializer.serializedBytes
        serializer = DER.Serializer()
        try serializer.serialize(1)
        try serializer.appendConstructedNode(identifier: .set) { try $0.appendAlgorithm(.sha256, hasNull: true) }
        opening = serializer.serializedBytes
    }

    /// The receipt that holds a payload.
    func receipt(holding payload: [UInt8]) throws -> [UInt8] {
        let signature = try key.sign(bytes: payload, signatureAlgorithm: algorithm).rawRepresentation
        var signers = DER.Serializer()
        try signers.appendConstructedNode(identifier: .set) { try appendSigner(signature, to: &$0) }

        let octets = DER.header(.octetString, length: payload.count)
        let explicit = DER.header(.tagged(0), length: octets.count + payload.count)
        let encapsulatedLength = Self.dataType.count + explicit.count + octets.count + payload.count
        let encapsulated = DER.header(.sequence, length: encapsulatedLength)
        let signedDataLength =
            opening.count + encapsulated.count + encapsulatedLength + certificates.count
            + signers.serializedBytes.count
        let signedData = DER.header(.sequence, length: signedDataLength)
        let wrapper = DER.header(.tagged(0), length: signedData.count + signedDataLength)
        let contentLength = Self.signedDataType.count + wrapper.count + signedData.count + signedDataLength

        var receipt = DER.header(.sequence, length: contentLength)
        receipt.reserveCapacity(receipt.count + contentLength)
        for part in [
            Self.signedDataType, wrapper, signedData, opening, encapsulated, Self.dataType, explicit, octets, payload,
            certificates, signers.serializedBytes,
        ] {
            receipt.append(contentsOf: part)
        }
        return receipt
    }

    /// Whether this signer's key made the receipt's signature over the receipt's payload.
    func isOwn(_ receipt: SignedReceipt) -> Bool {
        publicKey.isValidSignature(receipt.signature, for: receipt.payload, signatureAlgorithm: algorithm)
    }

    private func appendSigner(_ signature: [UInt8], to signers: inout DER.Serializer) throws {
        try signers.appendConstructedNode(identifier: .sequence) { signer in
            try signer.serialize(1)
            signer.serializeRawBytes(signerName)
            try signer.appendAlgorithm(.sha256, hasNull: true)
            try signer.appendAlgorithm(isRSA ? .rsaEncryption : .ecdsaWithSHA256, hasNull: isRSA)
            signer.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: signature) }
        }
    }
}

extension DER.Serializer {
    fileprivate mutating func appendAlgorithm(_ identifier: ASN1ObjectIdentifier, hasNull: Bool) throws {
        try appendConstructedNode(identifier: .sequence) { algorithm in
            try algorithm.serialize(identifier)
            if hasNull { try algorithm.serialize(ASN1Null()) }
        }
    }
}
