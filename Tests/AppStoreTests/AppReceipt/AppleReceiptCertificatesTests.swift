import Contract
import Cryptography
import Testing

@testable import AppStore

@Suite("Apple's receipt certificates")
struct AppleReceiptCertificatesTests {
    @Test("the root that receipts chain to is built in, with the fingerprint that Apple publishes, and signed itself")
    func root() throws {
        let certificates = try TrustedRoots.apple().certificates
        let root = try #require(
            certificates.first {
                SHA256.hash($0.der).hex == "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"
            })
        #expect(root.isSigned(by: root.publicKey))
    }

    @Test("certificates that Apple signed receipts with lead to it")
    func chain() throws {
        let chain = try ChainVerifier(roots: .apple()).verify(
            leaf: ReceiptChainOfApple.leaf()[...], intermediate: ReceiptChainOfApple.intermediate()[...])
        #expect(chain.validity.lowerBound.rfc3339 == "2022-09-02T19:13:57.000Z")
        #expect(chain.validity.upperBound.rfc3339 == "2024-10-01T19:13:56.000Z")
    }

    @Test("they are found by issuer and serial number, in whatever order")
    func names() throws {
        let list = try [ReceiptChainOfApple.intermediate(), ReceiptChainOfApple.leaf()]
        let certificates = try #require(ReceiptCertificates(ReceiptBuilder.tlv(0xa0, list.flatMap { $0 })[...]))
        let serial: [UInt8] = [
            0x15, 0xe7, 0x9f, 0xce, 0x52, 0x55, 0x0a, 0x65, 1, 0x7c, 0x91, 0xdf, 0xe4, 0xee, 0xb3, 0x59,
        ]
        let signer = try #require(try signed(by: ReceiptBuilder.tlv(0x02, serial)))
        let leaf = try #require(certificates.certificate(of: signer))
        #expect(Array(leaf.der) == list[1])
        #expect(certificates.issuers(of: leaf).map { Array($0.der) } == [list[0]])
        let other = try #require(try signed(by: ReceiptBuilder.tlv(0x02, serial.reversed())))
        #expect(certificates.certificate(of: other) == nil)
    }

    /// A signer that names the issuer of Apple's leaf and a serial number.
    private func signed(by serial: [UInt8]) throws -> SignerInfo? {
        let tlv = ReceiptBuilder.tlv
        let fields = BERTree.parse(try ReceiptChainOfApple.leaf()[...])?.children(BERTree.sequence)?.first?.children(
            BERTree.sequence)
        let issuer = Array(try #require(fields)[3].encodedBytes)
        let parts: [[UInt8]] = [
            [0x02, 1, 1], tlv(0x30, issuer + serial), tlv(0x30, ReceiptSigning.sha256),
            tlv(0x30, ReceiptSigning.rsaEncryption), tlv(0x04, [1]),
        ]
        return SignerInfo(set: tlv(0x31, tlv(0x30, parts.flatMap { $0 }))[...])
    }
}
