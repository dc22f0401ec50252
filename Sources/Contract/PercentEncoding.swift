internal import Cryptography

/// Percent-encoding (RFC 3986, section 2.1).
public enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes bytes as text: each stays as it is, or becomes three characters.
    /// - Parameter isPlain: whether a byte, of ASCII, stands for itself. All others are encoded, with capitals.
    public static func text(of bytes: some Sequence<UInt8>, where isPlain: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that a text stands for, with digits in either case; nil for a `%` without two digits behind it.
    public static func bytes(of text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.value(of:)),
                let low = rest.popFirst().flatMap(Hexadecimal.value(of:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
