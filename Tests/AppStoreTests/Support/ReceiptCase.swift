import CertificateMaking
import Contract
import Cryptography
import Testing

@testable import AppStore

/// A receipt and the error of its signature; nil for a receipt that verifies.
struct ReceiptCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: ReceiptSignatureError?
    private let make: @Sendable () throws -> ReceiptSigning

    /// A receipt with changes before it is signed, by Apple's kind of key unless another is given.
    init(
        _ description: String, _ error: ReceiptSignatureError?,
        by make: @escaping @Sendable () throws -> ReceiptSigning,
        _ change: @escaping @Sendable (inout ReceiptSigning) throws -> Void = { _ in }
    ) {
        testDescription = description
        self.error = error
        self.make = {
            var signing = try make()
            try change(&signing)
            return signing
        }
    }

    init(
        _ description: String, _ error: ReceiptSignatureError?,
        _ change: @escaping @Sendable (inout ReceiptSigning) throws -> Void = { _ in }
    ) {
        self.init(description, error, by: ReceiptSigning.rsa, change)
    }

    func signing() throws -> ReceiptSigning { try make() }

    /// With a chain on elliptic curves in which one thing is different.
    static func chain(
        _ description: String, _ error: ReceiptSignatureError?,
        _ change: @escaping @Sendable (inout ChainBuilder) -> Void
    ) -> ReceiptCase {
        ReceiptCase(description, error, by: { try ReceiptSigning.p256(change) })
    }

    static func flipped(_ bytes: [UInt8], at place: Int) -> [UInt8] {
        var bytes = bytes
        bytes[place < 0 ? bytes.count + place : place] ^= 1
        return bytes
    }
}

extension ReceiptCase {
    static let forms: [ReceiptCase] = [
        ReceiptCase("RSA, SHA-256, as Apple signs", nil),
        ReceiptCase("RSA with its digest in the algorithm", nil) { $0.namedAlgorithm = ReceiptSigning.rsaWithSHA256 },
        ReceiptCase("P-256, as the simulator signs", nil, by: ReceiptSigning.p256),
        ReceiptCase("RSA over signed attributes", nil) { $0.attributes = ReceiptSigning.usual },
        ReceiptCase("P-256 over signed attributes", nil, by: ReceiptSigning.p256) {
            $0.attributes = ReceiptSigning.usual
        },
        ReceiptCase("a signing time among the attributes", nil) {
            $0.attributes = { ReceiptSigning.usual($0) + [ReceiptSigning.attribute(5, [0x17, 0])] }
        },
        ReceiptCase("attributes that nobody signed, which say something else", nil) {
            $0.behindSignature = ReceiptBuilder.tlv(
                0xa1, ReceiptSigning.usual([UInt8](repeating: 0, count: 32)).flatMap { $0 })
        },
        ReceiptCase("content of another type", .wrongContentType) { $0.contentType = ReceiptSigning.envelopedData },
        ReceiptCase("no creation date", .noCreationDate) { $0.setDate(nil) },
        ReceiptCase("a creation date that is none", .noCreationDate) { $0.setDate("yesterday") },
    ]

    static let signers: [ReceiptCase] = [
        ReceiptCase("no signer", .signerUnreadable) { $0.signers = { _ in [] } },
        ReceiptCase("the signer twice", .signerUnreadable) { $0.signers = { [$0, $0] } },
        ReceiptCase("a signer of junk", .signerUnreadable) { $0.signers = { _ in [[0x30, 0]] } },
        ReceiptCase("somebody else's signer before Apple's", .signerUnreadable) { signing in
            let foreign = try ReceiptSigning.p256().der()
            let other = BERTree.parse(foreign[...])?.children(BERTree.sequence)?[1].children(BERTree.contextTag0)?[0]
                .children(BERTree.sequence)?.last?.children(BERTree.set)?.first
            signing.signers = { [Array(other?.encodedBytes ?? []), $0] }
        },
        ReceiptCase("a second signature behind the first", .signerUnreadable) {
            $0.behindSignature = ReceiptBuilder.tlv(0x04, [1, 2, 3])
        },
        ReceiptCase("something behind the attributes that nobody signed", .signerUnreadable) {
            $0.behindSignature = ReceiptBuilder.tlv(0xa1, []) + ReceiptBuilder.tlv(0xa1, [])
        },
        ReceiptCase("signed attributes behind the signature", .signerUnreadable) {
            $0.behindSignature = ReceiptBuilder.tlv(0xa0, ReceiptSigning.usual([1]).flatMap { $0 })
        },
        ReceiptCase("a digest of another kind", .signerUnreadable) { $0.namedDigest = ReceiptSigning.sha512 },
        ReceiptCase("SHA-1 named, SHA-256 signed", .wrongSignature) {
            $0.namedDigest = ReceiptSigning.sha1
            $0.setDate("2020-01-01T00:00:00Z")
        },
        ReceiptCase("an algorithm of another digest", .signerUnreadable) {
            $0.namedAlgorithm = ReceiptSigning.rsaWithSHA1
        },
        ReceiptCase("an algorithm that is none", .signerUnreadable) { $0.namedAlgorithm = ReceiptSigning.sha256 },
        ReceiptCase("an algorithm of another key", .wrongKey) { $0.namedAlgorithm = ReceiptSigning.ecdsaWithSHA256 },
        ReceiptCase("an algorithm of another key, the other way", .wrongKey, by: ReceiptSigning.p256) {
            $0.namedAlgorithm = ReceiptSigning.rsaEncryption
        },
        ReceiptCase("P-256 with SHA-1", .signerUnreadable, by: ReceiptSigning.p256) { $0.digest = .sha1 },
        ReceiptCase("another serial number", .signerUnknown) { $0.name = flipped($0.name, at: -1) },
        ReceiptCase("another issuer", .signerUnknown) { $0.name[2] ^= 1 },
    ]

    static let signatures: [ReceiptCase] = [
        ReceiptCase("one bit of the payload", .wrongSignature) { $0.alterPayload = { flipped($0, at: -1) } },
        ReceiptCase("one bit of the payload under attributes", .wrongDigest) {
            $0.attributes = ReceiptSigning.usual
            $0.alterPayload = { flipped($0, at: -1) }
        },
        ReceiptCase("one bit of the signature", .wrongSignature) { $0.alterSignature = { flipped($0, at: 100) } },
        ReceiptCase("one bit of a signature on P-256", .wrongSignature, by: ReceiptSigning.p256) {
            $0.alterSignature = { flipped($0, at: -1) }
        },
        ReceiptCase("no signature", .wrongSignature) { $0.alterSignature = { _ in [] } },
        ReceiptCase("no signature on P-256", .wrongSignature, by: ReceiptSigning.p256) {
            $0.alterSignature = { _ in [] }
        },
        ReceiptCase("a byte after the signature", .wrongSignature) { $0.alterSignature = { $0 + [0] } },
        ReceiptCase("a longer signature on P-256", .wrongSignature, by: ReceiptSigning.p256) {
            $0.alterSignature = { $0 + [0] }
        },
        ReceiptCase("another key's signature", .wrongSignature) {
            $0.key = .new(.rsa(bits: 2048))
        },
        ReceiptCase("attributes with the digest of something else", .wrongDigest) {
            $0.attributes = { ReceiptSigning.usual(flipped($0, at: 0)) }
        },
        ReceiptCase("attributes with half a digest", .wrongDigest) {
            $0.attributes = { ReceiptSigning.usual(Array($0.prefix(16))) }
        },
        ReceiptCase("attributes without a digest", .signerUnreadable) {
            $0.attributes = { _ in [ReceiptSigning.typed()] }
        },
        ReceiptCase("attributes without a type", .signerUnreadable) {
            $0.attributes = { [ReceiptSigning.digested($0)] }
        },
        ReceiptCase("attributes of another type", .signerUnreadable) {
            $0.attributes = { [ReceiptSigning.typed(ReceiptSigning.envelopedData), ReceiptSigning.digested($0)] }
        },
        ReceiptCase("attributes with two digests", .signerUnreadable) {
            $0.attributes = { ReceiptSigning.usual($0) + [ReceiptSigning.digested($0)] }
        },
        ReceiptCase("no attributes at all", .signerUnreadable) { $0.attributes = { _ in [] } },
    ]

    static let certificates: [ReceiptCase] = [
        ReceiptCase("without the root: it is not looked at", nil) { $0.certificates.removeLast() },
        ReceiptCase("with a root of junk", .certificatesUnreadable) { $0.certificates[2] = [0x30, 0] },
        ReceiptCase("in another order", nil) { $0.certificates.reverse() },
        ReceiptCase("none", .certificatesUnreadable) { $0.certificates = [] },
        ReceiptCase("without the signer's", .signerUnknown) { $0.certificates.removeFirst() },
        ReceiptCase("without the intermediate", .issuerUnknown) { $0.certificates.remove(at: 1) },
        ReceiptCase("too many", .certificatesUnreadable) {
            $0.certificates += Array(repeating: $0.certificates[2], count: ReceiptCertificates.maxCount - 2)
        },
        ReceiptCase("as many as may be", nil) {
            $0.certificates += Array(repeating: $0.certificates[2], count: ReceiptCertificates.maxCount - 3)
        },
        ReceiptCase("one that is too large", .certificatesUnreadable) {
            let junk = [UInt8](repeating: 0, count: ChainVerifier.maxCertificateBytes)
            $0.certificates.append(ReceiptBuilder.tlv(0x30, ReceiptBuilder.tlv(0x04, junk)))
        },
        ReceiptCase("an intermediate of the same name before the right one", nil) {
            let other = try ReceiptChain.rsa(intermediate: .sha1).certificates[1]
            $0.certificates.insert(flipped(other.der, at: -1), at: 1)
        },
        ReceiptCase("a root of the sender's own", .chain(.untrusted)) { $0.roots = try ChainBuilder().roots() },
        ReceiptCase("a root of the sender's own, with the right name", .chain(.untrusted)) {
            $0.roots = try ReceiptSigning.p256 { $0.root.subject = "Apple Root CA" }.roots
        },
        .chain("a leaf for another purpose", .chain(.wrongPurpose)) { $0.leaf.marker = nil },
        .chain("an intermediate for another purpose", .objection(.wrongPurpose)) { $0.intermediate.marker = nil },
        .chain("a leaf that is an authority", .objection(.wrongRole)) {
            $0.leaf.constraints = .basicConstraints(isAuthority: true)
        },
        .chain("an intermediate that is none", .objection(.wrongRole)) {
            $0.intermediate.constraints = .basicConstraints(isAuthority: false)
        },
        .chain("a leaf that the intermediate did not sign", .chain(.broken)) {
            $0.leaf.signer = .new(.p384)
        },
        .chain("a leaf of another key", .wrongSignature) {
            $0.leaf.key = .new(.p256)
        },
        .chain("a leaf on another curve", .wrongKey) {
            $0.leaf.key = .new(.p384)
        },
    ]
}

extension ReceiptCase {
    /// When the receipts of ``ReceiptBuilder`` were made.
    static let made = Timestamp(milliseconds: 1_795_237_153_000)
    private static let second: Duration = .seconds(1)

    static let dates: [ReceiptCase] = [
        .chain("a leaf that ran out in the very second", nil) { $0.leaf.notAfter = made },
        .chain("a leaf that ran out before", .outsideValidity) { $0.leaf.notAfter = made.advanced(by: .zero - second) },
        .chain("a leaf of that very second", nil) { $0.leaf.notBefore = made },
        .chain("a leaf of later", .outsideValidity) { $0.leaf.notBefore = made.advanced(by: second) },
        .chain("an intermediate that ran out before", .outsideValidity) {
            $0.intermediate.notAfter = made.advanced(by: .zero - second)
        },
        .chain("a root of later", .outsideValidity) { $0.root.notBefore = made.advanced(by: second) },
        sha1("SHA-1 in Apple's day", nil, "2025-01-24T23:59:59Z"),
        sha1("SHA-1 later", .weakDigest, "2025-01-25T00:00:00Z"),
        sha1("a leaf signed with SHA-1, in Apple's day", nil, "2020-01-01T00:00:00Z", leaf: true),
        sha1("a leaf signed with SHA-1, later", .weakDigest, "2026-01-01T00:00:00Z", leaf: true),
        sha1("an intermediate signed with SHA-1, in Apple's day", nil, "2020-01-01T00:00:00Z", intermediate: true),
        sha1("an intermediate signed with SHA-1, later", .weakDigest, "2026-01-01T00:00:00Z", intermediate: true),
    ]

    /// The receipt is signed with SHA-1, unless a certificate is.
    private static func sha1(
        _ description: String, _ error: ReceiptSignatureError?, _ date: String, leaf: Bool = false,
        intermediate: Bool = false
    ) -> ReceiptCase {
        ReceiptCase(
            description, error,
            by: {
                try ReceiptSigning(.rsa(leaf: leaf ? .sha1 : .sha256, intermediate: intermediate ? .sha1 : .sha256))
            },
            {
                $0.digest = leaf || intermediate ? .sha256 : .sha1
                $0.setDate(date)
            })
    }

    static let all = forms + signers + signatures + certificates + dates
}
