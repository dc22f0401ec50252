/// Writes ASN.1 values in DER (X.690), each from the encodings of its parts.
public enum DER {
    /// A value of any tag.
    public static func value(tag: UInt8, _ contents: some Collection<UInt8>) -> [UInt8] {
        [tag] + length(contents.count) + contents
    }

    /// A length: short up to 127, then in as few bytes as it needs.
    public static func length(_ count: Int) -> [UInt8] {
        guard count > 0x7f else { return [UInt8(count)] }
        let bytes = Array((0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }.drop { $0 == 0 })
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    public static func sequence(_ parts: [UInt8]...) -> [UInt8] { sequence(parts) }
    public static func sequence(_ parts: [[UInt8]]) -> [UInt8] { value(tag: 0x30, parts.joined()) }

    /// A SET whose parts stand in the order that is given.
    public static func set(_ parts: [UInt8]...) -> [UInt8] { set(parts) }
    public static func set(_ parts: [[UInt8]]) -> [UInt8] { value(tag: 0x31, parts.joined()) }

    /// A SET OF with its parts in the order that DER asks for (X.690, section 11.6).
    public static func setOf(_ parts: [[UInt8]]) -> [UInt8] {
        set(parts.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// `[number]` around a value, as EXPLICIT tagging has it, or instead of its SET or SEQUENCE tag.
    public static func context(_ number: UInt8, _ contents: [UInt8]) -> [UInt8] {
        value(tag: 0xa0 | number, contents)
    }

    public static func integer(_ number: Int64) -> [UInt8] {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        while bytes.count > 1, bytes[0] == 0 && bytes[1] < 0x80 || bytes[0] == 0xff && bytes[1] >= 0x80 {
            bytes.removeFirst()
        }
        return value(tag: 0x02, bytes)
    }

    /// A number that is not negative, from its bytes, the highest one first.
    public static func integer(magnitude: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(magnitude.drop { $0 == 0 })
        return value(tag: 0x02, digits.first.map { $0 < 0x80 } ?? false ? digits : [0] + digits)
    }

    public static func boolean(_ flag: Bool) -> [UInt8] { value(tag: 0x01, [flag ? 0xff : 0x00]) }
    public static func octetString(_ bytes: some Collection<UInt8>) -> [UInt8] { value(tag: 0x04, bytes) }
    public static var null: [UInt8] { [0x05, 0x00] }
    public static func utf8String(_ text: String) -> [UInt8] { value(tag: 0x0c, text.utf8) }
    public static func ia5String(_ text: String) -> [UInt8] { value(tag: 0x16, text.utf8) }

    /// - Parameter unused: how many bits of the last byte do not count.
    public static func bitString(_ bytes: some Collection<UInt8>, unused: UInt8 = 0) -> [UInt8] {
        value(tag: 0x03, [unused] + bytes)
    }

    /// An object identifier from dots and digits, such as `1.2.840.113549.1.7.2`.
    public static func objectIdentifier(_ text: String) -> [UInt8] {
        let arcs = text.split(separator: ".").compactMap { UInt64($0) }
        precondition(arcs.count >= 2, "an object identifier has two arcs or more")
        return value(tag: 0x06, ([arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2)).flatMap(base128))
    }

    private static func base128(_ number: UInt64) -> [UInt8] {
        var bytes = [UInt8(number & 0x7f)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}
