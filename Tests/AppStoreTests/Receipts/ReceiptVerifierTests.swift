import Contract
import Cryptography
import FoundationEssentials
import Testing

@testable import AppStore

@Suite("Receipt verifier")
struct ReceiptVerifierTests {
    @Test("a container's form", arguments: ReceiptCase.forms)
    func forms(_ receipt: ReceiptCase) throws {
        #expect(try receipt.signing().error() == receipt.error)
    }

    @Test("who signed, and how", arguments: ReceiptCase.signers)
    func signers(_ receipt: ReceiptCase) throws {
        #expect(try receipt.signing().error() == receipt.error)
    }

    @Test("what was signed", arguments: ReceiptCase.signatures)
    func signatures(_ receipt: ReceiptCase) throws {
        #expect(try receipt.signing().error() == receipt.error)
    }

    @Test("whose key it is", arguments: ReceiptCase.certificates)
    func certificates(_ receipt: ReceiptCase) throws {
        #expect(try receipt.signing().error() == receipt.error)
    }

    @Test("what counts is when the receipt was made", arguments: ReceiptCase.dates)
    func dates(_ receipt: ReceiptCase) throws {
        #expect(try receipt.signing().error() == receipt.error)
    }

    @Test("a forged receipt is forged whenever it was made", arguments: ReceiptCase.dates)
    func forgedDates(_ receipt: ReceiptCase) throws {
        var signing = try receipt.signing()
        signing.alterSignature = { ReceiptCase.flipped($0, at: 0) }
        #expect(try signing.error() == (receipt.error == .weakDigest ? .weakDigest : .wrongSignature))
    }

    @Test("indefinite lengths and content in pieces are verified as what they stand for")
    func ber() throws {
        for hasAttributes in [false, true] {
            var signing = try ReceiptSigning.rsa()
            if hasAttributes { signing.attributes = ReceiptSigning.usual }
            let verifier = ReceiptVerifier(roots: signing.roots)
            let receipt = try AppReceipt(der: signing.ber())
            #expect(receipt.signedData.payload == signing.builder.payload[...])
            #expect(verifier.error(receipt) == nil)
            signing.alterSignature = { ReceiptCase.flipped($0, at: 0) }
            #expect(try verifier.error(AppReceipt(der: signing.ber())) == .wrongSignature)
        }
    }

    @Test("pieces of pieces are read up to the depth that anything is", arguments: [1, 5, 6, 20, 38])
    func nested(depth: Int) throws {
        let signing = try ReceiptSigning.rsa()
        #expect(try ReceiptVerifier(roots: signing.roots).error(AppReceipt(der: signing.ber(nesting: depth))) == nil)
    }

    @Test("pieces that are nested without end are no receipt", arguments: [50, 1_000])
    func nestedTooDeep(depth: Int) throws {
        let bytes = try ReceiptSigning.rsa().ber(nesting: depth)
        #expect(throws: AppReceiptError.notASN1) { try AppReceipt(der: bytes) }
    }

    @Test("the text's alphabet, padding and line breaks make no difference")
    func spellings() throws {
        let signing = try ReceiptSigning.rsa()
        let text = SignedToken.base64URL(try signing.der())
        for text in [text, text.replacing("M", with: "\r\nM")] {
            #expect(
                ReceiptVerifier(roots: signing.roots).error(try AppReceipt.parse(base64: EvidenceText(text))) == nil)
        }
    }

    @Test("signed attributes are no receipt, and a receipt is no signed attributes")
    func confusion() throws {
        // Both are signed as a SET, so one could be presented as the other.
        var signing = try ReceiptSigning.rsa()
        let key = signing.key
        let digest = ReceiptSigning.Digest.sha256.hash(signing.builder.payload)
        let set = ReceiptBuilder.tlv(0x31, ReceiptSigning.usual(digest).flatMap { $0 })
        let signature = try key.sign(set, .sha256)
        signing.alterPayload = { _ in set }
        signing.alterSignature = { _ in signature }
        #expect(try signing.error() == .noCreationDate)
        var reversed = try ReceiptSigning.rsa()
        reversed.attributes = { _ in
            ReceiptBuilder.receipt().attributes.map { attribute in
                let type = ReceiptBuilder.integer(attribute.type) + ReceiptBuilder.integer(1)
                return ReceiptBuilder.tlv(0x30, type + ReceiptBuilder.tlv(0x04, attribute.value))
            }
        }
        #expect(try reversed.error() == .signerUnreadable)
    }

    @Test("a signer has so many attributes at most, because each is held against all others")
    func attributeBound() throws {
        var signing = try ReceiptSigning.p256()
        for (more, error) in [(62, nil), (63, .signerUnreadable)] as [(UInt8, ReceiptSignatureError?)] {
            signing.attributes = { digest in
                ReceiptSigning.usual(digest) + (0..<more).map { ReceiptSigning.attribute(10 + $0, [0x05, 0]) }
            }
            #expect(try signing.error() == error)
        }
    }

    @Test("chains are verified once, whether or not they hold")
    func caching() throws {
        let signing = try ReceiptSigning.rsa()
        let foreign = try ReceiptSigning.p256()
        let verifier = ReceiptVerifier(roots: signing.roots)
        for _ in 0..<3 {
            #expect(verifier.error(try signing.receipt()) == nil)
            #expect(verifier.error(try foreign.receipt()) == .chain(.untrusted))
        }
        #expect(verifier.chains.verifications == 2)
    }

    @Test("of several certificates of the issuer's name one in an unknown form is told, not one that was forged")
    func issuers() throws {
        var signing = try ReceiptSigning.p256 { $0.intermediate.marker = nil }
        let forged = try ChainBuilder().intermediateDER()
        signing.certificates.insert(forged, at: 1)
        #expect(try signing.error() == .objection(.wrongPurpose))
        signing.certificates.swapAt(1, 2)
        #expect(try signing.error() == .objection(.wrongPurpose))
        signing.certificates.remove(at: 1)
        #expect(try signing.error() == .chain(.untrusted))
    }

    @Test("a wrong signature, a wrong digest and a chain to a stranger's root prove forgery, and nothing else does")
    func forgery() {
        let errors: Set<ReceiptSignatureError> = Set(ReceiptCase.all.compactMap(\.error)).union(
            ChainError.allCases.map { .chain($0) })
        let proofs: Set<ReceiptSignatureError> = [.wrongSignature, .wrongDigest, .chain(.untrusted)]
        #expect(errors.filter(\.provesForgery) == proofs)
    }

    @Test("every error rejects as not authentic, but what Apple signed and no rule knows, with a sentence")
    func errors() {
        let errors = Set(ReceiptCase.all.compactMap(\.error))
        for error in errors {
            switch error {
            case .objection, .outsideValidity:
                #expect(error.verdict == .hold(.unknownAnswer, detail: error.detail))
            default:
                #expect(error.verdict == .rejected(Rejection(.receiptNotAuthentic, error.detail)))
            }
            #expect(error.detail.hasSuffix("."))
        }
        #expect(Set(errors.map(\.detail)).count == errors.count)
    }
}

@Suite("Explained receipts")
struct ReceiptReportTests {
    private func report(_ signing: ReceiptSigning) throws -> [EvidenceCheck] {
        ReceiptVerifier(roots: signing.roots).explain(
            base64: EvidenceText(Data(try signing.der()).base64EncodedString()))
    }

    private func changed(_ change: (inout ReceiptSigning) throws -> Void) throws -> [EvidenceCheck] {
        var signing = try ReceiptSigning.rsa()
        try change(&signing)
        return try report(signing)
    }

    @Test("a good one passes every step")
    func good() throws {
        let report = try report(ReceiptSigning.rsa())
        #expect(report.map(\.step) == ReceiptStep.allCases.map(\.rawValue))
        #expect(report.allSatisfy { $0.outcome == .passed && $0.detail.isEmpty })
    }

    @Test("what fails is the step that failed, and what comes after was not looked at")
    func failures() throws {
        let broken = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase(cancelled: "soon")])
        let cases: [([EvidenceCheck], ReceiptStep)] = [
            (try changed { $0.setDate(nil) }, .form), (try changed { $0.signers = { [$0, $0] } }, .signer),
            (try changed { $0.certificates.removeFirst() }, .certificates),
            (try changed { $0.roots = try ChainBuilder().roots() }, .certificates),
            (try changed { $0.setDate("2001-01-01T00:00:00Z") }, .validity),
            (try changed { $0.digest = .sha1 }, .digest),
            (try changed { $0.alterSignature = { _ in [] } }, .signature),
            (try changed { $0.builder = ReceiptBuilder.receipt(origin: "Xcode") }, .environment),
            (try changed { $0.builder = ReceiptBuilder.receipt(origin: "Moon") }, .environment),
            (try changed { $0.builder = broken }, .purchases),
        ]
        for (report, step) in cases {
            let failed = try #require(report.first { $0.outcome == .failed })
            #expect(failed.step == step.rawValue && failed.detail.hasSuffix("."))
            #expect(report.map(\.step) == ReceiptStep.allCases.map(\.rawValue))
            let after = report.drop { $0 != failed }.dropFirst()
            #expect(after.allSatisfy { $0.outcome == .skipped && $0.detail.isEmpty })
        }
    }

    @Test("a text that is no receipt fails at once", arguments: ["", "!", "e30=", "MAA="])
    func noReceipt(text: String) throws {
        let report = try ReceiptVerifier(roots: .apple()).explain(base64: EvidenceText(text))
        #expect(report.first?.outcome == .failed)
        #expect(report.dropFirst().allSatisfy { $0.outcome == .skipped })
    }
}

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
