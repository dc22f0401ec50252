internal import Cryptography
internal import Scheduling

/// Writes a JSON object (RFC 8259) straight into bytes, without values in between.
///
/// Members are written in the order of the calls. Callers write them alphabetically, so that the same event has the
/// same bytes on every machine and in every version. Only characters that JSON requires to be escaped are escaped. The
/// writer is not copyable, so that no call copies the bytes.
public struct JSONObjectWriter: ~Copyable {
    /// The bytes written so far; complete after ``finished()``.
    private var bytes: [UInt8] = []

    /// An object to which nothing was written yet.
    public init(expecting byteCount: Int = 1024) {
        bytes.reserveCapacity(byteCount)
        bytes.append(UInt8(ascii: "{"))
    }

    /// Closes the object and gives all of its bytes; the writer is used up.
    public consuming func finished() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Writes a text; leaves the member out for nil.
    public mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        begin(name)
        string(text)
    }

    /// Writes a whole number; leaves the member out for nil.
    public mutating func member(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        begin(name)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Writes a moment as RFC 3339; leaves the member out for nil.
    public mutating func member(_ name: StaticString, _ time: Timestamp?) {
        guard let time else { return }
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        let text = CivilText.rfc3339(milliseconds: time.milliseconds)
        for index in text.indices { bytes.append(text[index]) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes `true` or `false`.
    public mutating func member(_ name: StaticString, _ flag: Bool) {
        begin(name)
        bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    /// Writes an object, to which `write` adds the members.
    public mutating func member(_ name: StaticString, object write: (inout JSONObjectWriter) -> Void) {
        begin(name)
        bytes.append(UInt8(ascii: "{"))
        write(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes an array of objects.
    public mutating func member<Element>(
        _ name: StaticString, objects: [Element], _ write: (Element, inout JSONObjectWriter) -> Void
    ) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in objects.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "{"))
            write(element, &self)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func begin(_ name: StaticString) {
        if bytes[bytes.count - 1] != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Written as it is and looked at afterwards: hardly any text has something to escape.
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if hasSpecial(from: start) {
            bytes.removeSubrange(start...)
            for byte in text.utf8 { escaped(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Without a way out of the loop, so that the compiler takes many bytes at a time.
    private func hasSpecial(from start: Int) -> Bool {
        let text = bytes.span.extracting(start...)
        var found = false
        for index in text.indices { found = found || !Self.standsForItself(text[index]) }
        return found
    }

    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func escaped(_ byte: UInt8) {
        guard !Self.standsForItself(byte) else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(Hexadecimal.digit(byte >> 4))
            bytes.append(Hexadecimal.digit(byte & 0x0f))
        }
    }
}
