import Contract
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
            #expect(ReceiptVerifier(roots: signing.roots).error(try AppReceipt.parse(base64: text)) == nil)
        }
    }

    @Test("signed attributes are no receipt, and a receipt is no signed attributes")
    func confusion() throws {
        // Both are signed as a SET, so what was signed as one could be presented as the other.
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

    @Test("chains are verified once, whether or not they hold")
    func caching() throws {
        let signing = try ReceiptSigning.rsa()
        let foreign = try ReceiptSigning.p256()
        let verifier = ReceiptVerifier(roots: signing.roots)
        for _ in 0..<3 {
            #expect(verifier.error(try signing.receipt()) == nil)
            #expect(verifier.error(try foreign.receipt()) == .chain(.untrusted))
        }
        #expect(verifier.chainStatistics == ChainCache.Statistics(hits: 4, misses: 2))
    }

    @Test("every error rejects as not authentic, with a sentence")
    func errors() {
        let errors = Set(ReceiptCase.all.compactMap(\.error))
        for error in errors {
            #expect(error.verdict == .rejected(Rejection(.receiptNotAuthentic, error.detail)))
            #expect(error.detail.hasSuffix("."))
        }
        #expect(Set(errors.map(\.detail)).count == errors.count)
    }
}
