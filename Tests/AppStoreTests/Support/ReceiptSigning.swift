import CertificateMaking
import Contract
import Cryptography

@testable import AppStore

/// Signs receipts as Apple does, or differently in whatever a test changes (RFC 5652, section 5).
struct ReceiptSigning: Sendable {
    enum Digest: Sendable {
        case sha1, sha256

        var oid: [UInt8] { self == .sha1 ? ReceiptSigning.sha1 : ReceiptSigning.sha256 }

        func hash(_ bytes: [UInt8]) -> [UInt8] {
            self == .sha1 ? SHA1.hash(bytes) : SHA256.hash(bytes).bytes
        }
    }

    static let sha1: [UInt8] = [0x06, 5, 0x2b, 0x0e, 3, 2, 0x1a]
    static let sha256: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]
    static let sha512: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3]
    static let rsaEncryption: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1]
    static let rsaWithSHA1: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5]
    static let rsaWithSHA256: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]
    static let ecdsaWithSHA256: [UInt8] = [0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]
    static let envelopedData: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 3]

    var key: PrivateKey
    /// The certificates in the container: leaf, intermediate and root unless a test changes it.
    var certificates: [[UInt8]]
    /// The roots that the verifier trusts.
    var roots: TrustedRoots
    var builder = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase()])
    var digest = Digest.sha256
    /// Identifiers that the signer names; nil for the true ones.
    var namedDigest: [UInt8]?
    var namedAlgorithm: [UInt8]?
    /// Issuer and serial number, encoded.
    var name: [UInt8]
    var contentType = ReceiptBuilder.data
    /// The attributes that are signed in the payload's place, from the payload's digest.
    var attributes: (@Sendable (_ digest: [UInt8]) -> [[UInt8]])?
    /// Values behind the signature, encoded.
    var behindSignature: [UInt8] = []
    /// Changes the container's content after the signature.
    var alterPayload: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    var alterSignature: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    /// The signers, made from the real one.
    var signers: @Sendable ([UInt8]) -> [[UInt8]] = { [$0] }

    init(_ chain: ReceiptChain) throws {
        key = chain.key
        certificates = chain.certificates.map(\.der)
        roots = TrustedRoots(certificates: [chain.root])
        name = chain.leaf.issuer + DER.integer(magnitude: chain.leaf.serialNumber)
    }

    /// As Apple signs.
    static func rsa() throws -> ReceiptSigning { try ReceiptSigning(.rsa()) }

    /// As the simulator signs.
    static func p256() throws -> ReceiptSigning { try ReceiptSigning(ReceiptChain(.shared)) }

    /// With a chain of its own.
    static func p256(_ change: (inout ChainBuilder) -> Void) throws -> ReceiptSigning {
        try ReceiptSigning(ReceiptChain(ChainBuilder(change)))
    }

    static func usual(_ digest: [UInt8]) -> [[UInt8]] { [typed(), digested(digest)] }

    static func typed(_ type: [UInt8] = ReceiptBuilder.data) -> [UInt8] { attribute(3, type) }
    static func digested(_ digest: [UInt8]) -> [UInt8] { attribute(4, ReceiptBuilder.tlv(0x04, digest)) }

    /// An attribute of PKCS#9.
    static func attribute(_ kind: UInt8, _ value: [UInt8]) -> [UInt8] {
        let type: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, kind]
        return ReceiptBuilder.tlv(0x30, type + ReceiptBuilder.tlv(0x31, value))
    }

    mutating func setDate(_ text: String?) {
        builder.attributes.removeAll { $0.type == 12 }
        if let text { builder.attributes.append((12, ReceiptBuilder.ia5(text))) }
    }

    func receipt() throws -> AppReceipt { try AppReceipt(der: der()) }

    /// The error of a verifier that trusts the chain; nil if the signature holds.
    func error() throws -> ReceiptSignatureError? {
        try ReceiptVerifier(roots: roots).error(receipt())
    }

    func der() throws -> [UInt8] {
        let tlv = ReceiptBuilder.tlv
        let payload = builder.payload
        let content = tlv(0x30, contentType + tlv(0xa0, tlv(0x04, alterPayload(payload))))
        return tlv(0x30, ReceiptBuilder.signedData + tlv(0xa0, tlv(0x30, try members(content, signing: payload))))
    }

    /// With indefinite lengths and the content in two pieces, each of them in so many more OCTET STRINGs.
    func ber(nesting: Int = 0) throws -> [UInt8] {
        let payload = builder.payload
        let half = payload.count / 2
        var pieces: [UInt8] = []
        for piece in [payload[..<half], payload[half...]] {
            pieces += (0..<nesting).reduce(ReceiptBuilder.tlv(0x04, Array(piece))) { value, _ in open(0x24, value) }
        }
        let content = open(0x30, contentType + open(0xa0, open(0x24, pieces)))
        return open(0x30, ReceiptBuilder.signedData + open(0xa0, open(0x30, try members(content, signing: payload))))
    }

    private func open(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, 0x80] + contents + [0, 0] }

    private func members(_ content: [UInt8], signing payload: [UInt8]) throws -> [UInt8] {
        let tlv = ReceiptBuilder.tlv
        let certificates = certificates.isEmpty ? [] : tlv(0xa0, certificates.flatMap { $0 })
        let signers = signers(try signer(of: payload)).flatMap { $0 }
        return [0x02, 1, 1] + tlv(0x31, tlv(0x30, digest.oid)) + content + certificates + tlv(0x31, signers)
    }

    private func signer(of payload: [UInt8]) throws -> [UInt8] {
        let tlv = ReceiptBuilder.tlv
        let list = attributes.map { $0(digest.hash(payload)).flatMap { $0 } }
        let signature = try key.sign(list.map { tlv(0x31, $0) } ?? payload, digest)
        let parts: [[UInt8]] = [
            [0x02, 1, 1], tlv(0x30, name), tlv(0x30, (namedDigest ?? digest.oid) + [5, 0]),
            list.map { tlv(0xa0, $0) } ?? [], tlv(0x30, namedAlgorithm ?? key.receiptAlgorithm),
            tlv(0x04, alterSignature(signature)), behindSignature,
        ]
        return tlv(0x30, parts.flatMap { $0 })
    }
}

extension ReceiptVerifier {
    /// Why a receipt does not verify; nil if it does.
    func error(_ receipt: AppReceipt) -> ReceiptSignatureError? {
        Result { () throws(ReceiptSignatureError) in try verify(receipt) }.error
    }
}

extension PrivateKey {
    /// The algorithm that receipts name for such a key.
    var receiptAlgorithm: [UInt8] {
        publicKey.kind == .p256 ? ReceiptSigning.ecdsaWithSHA256 : ReceiptSigning.rsaEncryption + [5, 0]
    }

    func sign(_ bytes: [UInt8], _ digest: ReceiptSigning.Digest) throws -> [UInt8] {
        switch digest {
        case .sha1: try signature(of: .sha1(SHA1.hash(bytes)))
        case .sha256: try signature(of: .sha256(SHA256.hash(bytes)))
        }
    }
}
