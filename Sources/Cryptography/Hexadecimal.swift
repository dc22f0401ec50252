/// Hexadecimal digits, as bytes of ASCII. Inlinable, because each byte of an id goes through it.
public enum Hexadecimal {
    /// The lower-case digit of a number below 16.
    @inlinable
    public static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + (number - 10)
    }

    /// The number of a digit in either case; nil for any other byte.
    @inlinable
    public static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: value(ofLowerCase: digit)
        }
    }

    /// The number of a digit that is no capital; nil for any other byte.
    @inlinable
    public static func value(ofLowerCase digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Two lower-case digits for each byte.
    public static func text(of bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 0x0f)] }, as: UTF8.self)
    }
}
