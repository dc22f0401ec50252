public import Contract
internal import Cryptography

/// A receipt's base64 text, in the only form that Apple's endpoint takes.
///
/// Clients send the URL-safe alphabet, line breaks, no padding, or stray bits in the last character. All of these name
/// the same bytes, and all but the standard form make verifyReceipt reply 21002
/// ([TN3122](https://developer.apple.com/documentation/technotes/tn3122-resolving-app-store-receipt-verification-problems)).
/// Because many texts name one receipt, the text is never an identity.
public struct ReceiptText: Hashable, Sendable {
    /// Largest receipt that is looked into, in bytes of DER. The largest genuine ones seen have some 300 KB.
    public static let maxBytes = 4 << 20
    /// Longest text that is looked at, in bytes: that of the largest receipt, with a CR LF after every 64 characters.
    static let maxTextBytes = (maxBytes + 2) / 3 * 4 / 64 * 66 + 66

    /// Standard alphabet, padded, no white space, no stray bits; ASCII.
    public let base64: ArraySlice<UInt8>
    /// The bytes that the text stands for.
    public let bytes: [UInt8]

    /// Normalises and decodes a client's text. A text in the standard form, as nearly all are, is kept as a slice of
    /// its record.
    ///
    /// ASCII white space is skipped wherever it stands; `-` and `_` count as `+` and `/`; padding may be missing.
    /// - Throws: `tooLarge`, `empty`, `notBase64`.
    public init(_ text: EvidenceText) throws(AppReceiptError) {
        let text = text.bytes
        guard text.count <= Self.maxTextBytes else { throw .tooLarge }
        self = if let standard = Self.standard(text) { standard } else { try Self.anyForm(text) }
        guard bytes.count <= Self.maxBytes else { throw .tooLarge }
    }

    /// Reads a text that is in the standard form already, as nearly all are; nil for every other.
    private static func standard(_ text: ArraySlice<UInt8>) -> ReceiptText? {
        guard text.count & 3 == 0, !text.isEmpty else { return nil }
        // Only the last four characters can have padding or stray bits, and they are in no block.
        let blocks = (text.count - 4) / Base64Blocks.characters
        let end = text.dropFirst(blocks * Base64Blocks.characters)
        // A failure means that the text is wrong, or in another form than this.
        guard let last = try? anyForm(end), last.base64 == end,
            var bytes = Base64Blocks.decode(text, blocks: blocks, .standard)
        else { return nil }
        bytes.replaceSubrange((blocks * Base64Blocks.bytes)..., with: last.bytes)
        return ReceiptText(base64: text, bytes: bytes)
    }

    /// Reads every form that is taken, character by character.
    private static func anyForm(_ text: ArraySlice<UInt8>) throws(AppReceiptError) -> ReceiptText {
        let (values, alphabet) = (Self.values, Self.alphabet)
        var base64: [UInt8] = []
        var bytes: [UInt8] = []
        base64.reserveCapacity(text.count + 3)
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        var pending: UInt32 = 0
        var padding = 0
        for character in text {
            let value = values[Int(character)]
            if value < 64 {
                guard padding == 0 else { throw .notBase64 }
                base64.append(alphabet[Int(value)])
                pending = pending << 6 | UInt32(value)
                if base64.count & 3 == 0 {
                    bytes.append(UInt8(truncatingIfNeeded: pending >> 16))
                    bytes.append(UInt8(truncatingIfNeeded: pending >> 8))
                    bytes.append(UInt8(truncatingIfNeeded: pending))
                }
            } else if value == pad {
                padding += 1
            } else if value == invalid {
                throw .notBase64
            }
        }
        guard !base64.isEmpty else { throw padding == 0 ? .empty : .notBase64 }
        switch (base64.count & 3, padding) {
        case (0, 0): break
        case (2, 0), (2, 2):
            bytes.append(UInt8(truncatingIfNeeded: pending >> 4))
            base64[base64.count - 1] = alphabet[Int(pending & 0b11_0000)]
            base64 += [padCharacter, padCharacter]
        case (3, 0), (3, 1):
            bytes.append(UInt8(truncatingIfNeeded: pending >> 10))
            bytes.append(UInt8(truncatingIfNeeded: pending >> 2))
            base64[base64.count - 1] = alphabet[Int(pending & 0b11_1100)]
            base64.append(padCharacter)
        default: throw .notBase64
        }
        return ReceiptText(base64: base64[...], bytes: bytes)
    }

    /// Texts that a spoilt one may have been; none for a text without signs of that. The first is as ``mended(_:)`` has
    /// it. If its last group is no whole one, a second has the plus signs that became spaces and were trimmed.
    static func spellings(of text: EvidenceText) -> [EvidenceText] {
        guard let mended = mended(text) else { return [] }
        let lacking = -mended.bytes.count { values[Int($0)] <= pad } & 3
        guard lacking > 0 else { return [mended] }
        return [mended, EvidenceText(mended.bytes + Array(repeating: UInt8(ascii: "+"), count: lacking))]
    }

    /// The text as it was before a program on its way spoilt it; nil for a text without signs of that.
    ///
    /// Decoders of forms make a plus sign a space. Encoders leave `%2B` for it. Writers of JSON that are called twice
    /// put quotes around, and write `\/`, `\u002B` or `\n` inside. Readers of files in JavaScript begin with
    /// `data:…;base64,`, and those of Windows leave a byte order mark in front.
    static func mended(_ text: EvidenceText) -> EvidenceText? {
        guard text.bytes.count <= maxTextBytes else { return nil }
        var inner = text.bytes
        while let first = inner.first, isAround(first) { inner.removeFirst() }
        while let last = inner.last, isAround(last) { inner.removeLast() }
        if inner.starts(with: "data:".utf8), let comma = inner.firstIndex(of: UInt8(ascii: ",")) {
            inner = inner[(comma + 1)...]
        }
        var mended: [UInt8] = []
        mended.reserveCapacity(inner.count)
        var place = inner.startIndex
        while place < inner.endIndex {
            let byte = inner[place]
            if byte == UInt8(ascii: "%"), place + 2 < inner.endIndex,
                let high = Hexadecimal.value(of: inner[place + 1]),
                let low = Hexadecimal.value(of: inner[place + 2])
            {
                mended.append(high << 4 | low)
                place += 3
                continue
            }
            if byte == UInt8(ascii: "\\") {
                place += 1
                let (character, length) = escaped(inner[place...])
                if let character { mended.append(character) }
                place += length
                continue
            }
            mended.append(byte == UInt8(ascii: " ") ? UInt8(ascii: "+") : byte)
            place += 1
        }
        return mended.elementsEqual(text.bytes) ? nil : EvidenceText(mended[...])
    }

    /// The character of an escape of JSON, behind its backslash, and how many bytes it takes. None for white space, and
    /// for one that stands for itself.
    private static func escaped(_ rest: ArraySlice<UInt8>) -> (character: UInt8?, length: Int) {
        switch rest.first {
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return (nil, 1)
        case UInt8(ascii: "u"):
            let digits = rest.dropFirst().prefix(4).compactMap { Hexadecimal.value(of: $0) }
            guard digits.count == 4, digits[0] == 0, digits[1] == 0 else { return (nil, 0) }
            return (digits[2] << 4 | digits[3], 5)
        default: return (nil, 0)
        }
    }

    /// White space and what no base64 has; behind a percent sign may be a character.
    private static func isAround(_ byte: UInt8) -> Bool { values[Int(byte)] >= skipped && byte != UInt8(ascii: "%") }

    private init(base64: ArraySlice<UInt8>, bytes: [UInt8]) {
        self.base64 = base64
        self.bytes = bytes
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padCharacter = UInt8(ascii: "=")
    private static let pad: UInt8 = 64
    private static let skipped: UInt8 = 65
    private static let invalid: UInt8 = 66

    /// The value of each byte: a value below 64, or one of the three marks above.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        values[Int(padCharacter)] = pad
        for space in " \t\r\n".utf8 { values[Int(space)] = skipped }
        return values
    }()
}

/// Why evidence is not an App Store receipt. The same bytes always give the same error, so the submission is rejected.
/// Asking Apple or trying again cannot help.
public enum AppReceiptError: String, Error, Hashable, Sendable {
    /// More than ``ReceiptText/maxBytes``; not looked into.
    case tooLarge = "The receipt is larger than a receipt can be."
    case empty = "The receipt is empty."
    /// A character that no base64 alphabet has, padding in the middle, or a length that base64 cannot have.
    case notBase64 = "The receipt is not base64."
    /// Not one complete ASN.1 value: garbage, truncated, nested too deep, of too many values, or followed by
    /// more bytes.
    case notASN1 = "The receipt is truncated or no ASN.1 data."
    case notSignedData = "The receipt is not a PKCS#7 signed-data container."
    case notReceiptAttributes = "The container holds no receipt attributes."

    public var detail: String { rawValue }
}
