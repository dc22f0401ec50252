import Contract
import Testing

@Suite("Evidence as text")
struct EvidenceTextTests {
    private let record = Array("{\"receipt\":\"AAé\"}".utf8)

    @Test("is what it is a part of, up to its own ends")
    func part() {
        let text = EvidenceText(record[12..<16])
        #expect(text.string == "AAé")
        #expect(text == "AAé")
        #expect(text != "AAe")
        #expect(Set([text, EvidenceText("AAé"), "AA"]).count == 2)
    }

    @Test("alone it is the same text, and no part of the record any more")
    func alone() {
        let text = EvidenceText(record[12..<16])
        #expect(text.alone == text)
        #expect(text.alone.bytes.startIndex == 0)
        #expect(Evidence.receipt(base64: text).alone == .receipt(base64: text))
        #expect(Evidence.signedTransaction(text).alone == .signedTransaction(text))
        #expect(Evidence.transactionID("1").alone == .transactionID("1"))
    }

    @Test("does not describe itself: evidence is worth a purchase, and descriptions end up in logs")
    func description() {
        #expect("\(EvidenceText("secret"))" == "6 bytes")
    }
}
