import Contract

/// The forms of evidence that senders mistake for each other, known by their first bytes. For the detail of a refusal:
/// it decides nothing.
enum EvidenceForm: Hashable, Sendable {
    case signedTransaction
    case appReceipt
    case transactionReceipt
    /// A payload of Unity's, a transaction as JSON, or a whole reply of Apple's; also in base64.
    case json
    /// XML or HTML.
    case markup
    /// The bytes as debuggers print them: `<30821234 …>`, or since iOS 13 `{length = 4242, bytes = 0x3082… }`.
    case description
    /// A receipt in base64 of its base64.
    case encodedTwice
    case gzip

    /// Bytes at the beginning of a text that are looked at.
    private static let head = 64

    /// Nil where the first bytes show nothing.
    init?(of text: EvidenceText) {
        let around = Array(" \t\r\n\"".utf8)
        let beginning = text.bytes.drop { around.contains($0) }.prefix(Self.head)
        switch beginning.first {
        case nil: return nil
        case _ where beginning.starts(with: "<308".utf8) || beginning.starts(with: "{length".utf8): self = .description
        case UInt8(ascii: "{"), UInt8(ascii: "["): self = .json
        case UInt8(ascii: "<"): self = .markup
        default:
            if text.bytes.count(where: { $0 == UInt8(ascii: ".") }) == 2, beginning.starts(with: "eyJ".utf8) {
                self = .signedTransaction
            } else if let bytes = Self.decoded(beginning), let form = Self(decoded: bytes, text) {
                self = form
            } else {
                return nil
            }
        }
    }

    /// As many whole groups of base64 as there are; with the spaces that were plus signs.
    private static func decoded(_ beginning: ArraySlice<UInt8>) -> [UInt8]? {
        let whole = EvidenceText(beginning.prefix(beginning.count & ~3))
        return (try? ReceiptText(ReceiptText.mended(whole) ?? whole))?.bytes
    }

    private init?(decoded bytes: [UInt8], _ text: EvidenceText) {
        switch (bytes.first, bytes.dropFirst().first) {
        // A sequence whose length needs more than a byte, as every receipt's does.
        case (0x30, .some(0x80...)): self = .appReceipt
        case (0x1F, 0x8B): self = .gzip
        case (UInt8(ascii: "M"), UInt8(ascii: "I")): self = .encodedTwice
        case (UInt8(ascii: "<"), _): self = .markup
        case (UInt8(ascii: "{"), _):
            self = TransactionReceipt.read(text) == nil ? .json : .transactionReceipt
        default: return nil
        }
    }

    /// A sentence about a text's form, and where it belongs.
    var advice: String {
        switch self {
        case .signedTransaction: "It is a signed transaction: send it as signedTransaction."
        case .appReceipt: "It is an app receipt: send it as receipt."
        case .transactionReceipt: "It is a transactionReceipt in the style of iOS 6: send it as receipt."
        case .json:
            "It is JSON: send the receipt that stands in it (of Unity's JSON the Payload), or StoreKit 2's jwsRepresentation."
        case .markup: "It is XML or HTML."
        case .description: "It is a printed description of the bytes: send base64EncodedString()."
        case .encodedTwice: "It is base64 of base64: it was encoded twice."
        case .gzip: "It is compressed with gzip."
        }
    }

    /// The detail of a refusal, with the advice where the text is of another form than the member it came in.
    static func detail(_ detail: String, of text: EvidenceText, in expected: EvidenceForm) -> String {
        guard let form = EvidenceForm(of: text), form != expected else { return detail }
        return "\(detail) \(form.advice)"
    }
}
