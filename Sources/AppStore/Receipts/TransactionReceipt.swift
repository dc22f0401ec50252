import Contract

/// The receipt of one transaction in the style of iOS 6: `transactionReceipt`, which StoreKit 1 still gives out.
///
/// It is a property list in the style of NeXT: `{ "signature" = "…"; "purchase-info" = "…"; }`, and `purchase-info` is
/// another property list in base64. verifyReceipt alone can authenticate it. Its content is unauthenticated. It serves
/// to recognize Apple's reply, and to refuse a claim that the sender's own evidence contradicts.
struct TransactionReceipt: Hashable, Sendable {
    /// Largest one that is looked into, in bytes. Apple's have some 3 KB.
    static let maxBytes = 64 << 10

    /// Without it nobody could tell whether a reply is about this receipt.
    let transactionID: TransactionID
    let bundleID: BundleID?
    let purchasedAt: Timestamp?
    let saysSandbox: Bool

    /// Nil for anything else, as nearly all evidence is.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maxBytes, let outer = PropertyList(bytes), outer["signature"] != nil,
            let info = outer["purchase-info"], let text = try? ReceiptText(EvidenceText(info)),
            let inner = PropertyList(text.bytes), let id = inner["transaction-id"].map({ TransactionID(reading: $0) }),
            id.isWellFormed
        else { return nil }
        transactionID = id
        bundleID = inner["bid"].map { BundleID($0) }
        purchasedAt = inner["purchase-date-ms"].flatMap(LenientNumber.moment).map { Timestamp(milliseconds: $0) }
        saysSandbox = outer["environment"].flatMap { AppleCodes.environments[$0] } == .sandbox
    }

    /// Reads one from base64, together with the text that Apple takes of it; nil for anything else.
    static func read(_ base64: EvidenceText) -> (text: ReceiptText, receipt: TransactionReceipt)? {
        for spelling in [base64, ReceiptText.mended(base64)] {
            if let spelling, let text = try? ReceiptText(spelling), let receipt = TransactionReceipt(text.bytes) {
                return (text, receipt)
            }
        }
        return nil
    }

    /// Why the sender's own evidence rules out a submission to an app; nil if it does not.
    func contradiction(with app: App) -> Rejection? {
        guard let bundleID, bundleID != app.bundleID else { return nil }
        return Rejection(.bundleMismatch, "The receipt belongs to another app.")
    }
}

/// A property list in the style of NeXT that is one dictionary of texts.
struct PropertyList: Sendable {
    /// Most members; Apple's have some 20.
    static let maxMembers = 64

    private var texts: [String: String] = [:]

    subscript(name: String) -> String? { texts[name] }

    /// Nil for a text that is none, or has values of another kind.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard Self.take(UInt8(ascii: "{"), &rest) else { return nil }
        while !Self.take(UInt8(ascii: "}"), &rest) {
            guard texts.count < Self.maxMembers, let name = Self.text(&rest), Self.take(UInt8(ascii: "="), &rest),
                let value = Self.text(&rest)
            else { return nil }
            texts[name] = value
            // The last one may stand without it.
            _ = Self.take(UInt8(ascii: ";"), &rest)
        }
    }

    /// Takes a byte behind white space.
    private static func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    /// A text in quotes, or a bare word. Apple's have no escapes but those of quotes.
    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard take(UInt8(ascii: "\""), &rest) else {
            let word = rest.prefix { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            rest = rest[word.endIndex...]
            return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
        }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            text.append(escaped)
        }
        return nil
    }
}
