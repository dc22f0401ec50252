import Contract
import Testing

@testable import AppStore

@Suite("Forms of evidence")
struct EvidenceFormTests {
    private func form(_ text: String) -> EvidenceForm? { EvidenceForm(of: EvidenceText(text)) }

    @Test("Forms are told by their first bytes")
    func forms() throws {
        let receipt = SignedToken.base64(ReceiptBuilder.receipt().der)
        #expect(form(receipt) == .appReceipt)
        #expect(form(" \"" + receipt + "\"") == .appReceipt)
        #expect(form(SignedToken.base64(ReceiptBuilder.receipt().ber)) == .appReceipt)
        #expect(form(String(receipt.prefix(100))) == .appReceipt)
        #expect(form(try SignedToken().text()) == .signedTransaction)
        #expect(form("{}") == .json && form("[1]") == .json)
        #expect(form(SignedToken.base64(Array("{\"transactionId\":1}".utf8))) == .json)
        #expect(form(TransactionReceiptTests.base64()) == .transactionReceipt)
        #expect(form(SignedToken.base64(Array(receipt.utf8))) == .encodedTwice)
        #expect(form(SignedToken.base64([0x1F, 0x8B, 8, 0, 0, 0])) == .gzip)
        #expect(form("<30821234 5678>") == .description)
        #expect(form("{length = 4242, bytes = 0x30821234 ... }") == .description)
        #expect(form("<?xml version=\"1.0\"?>") == .markup)
    }

    @Test("What tells nothing gets no advice", arguments: ["", "  ", "AAAA", "!", "a.b.c", "MIAG"])
    func others(text: String) {
        #expect([nil, .appReceipt].contains(form(text)))
        #expect(EvidenceForm.detail("It is none.", of: EvidenceText(text), in: .appReceipt) == "It is none.")
    }

    @Test("Advice is given for another form than the expected one")
    func advice() {
        let receipt = EvidenceText(SignedToken.base64(ReceiptBuilder.receipt().der))
        #expect(EvidenceForm.detail("No.", of: receipt, in: .appReceipt) == "No.")
        #expect(
            EvidenceForm.detail("No.", of: receipt, in: .signedTransaction)
                == "No. It is an app receipt: send it as receipt.")
    }
}
