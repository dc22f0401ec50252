import Cryptography

/// The bytes that digits stand for, two each; anything else between them is passed over.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The number of points on P-256 (SEC 2, section 2.4.2).
enum P256Order {
    static let bytes = CryptographyTests.bytes(
        "ffffffff 00000000 ffffffff ffffffff bce6faad a7179e84 f3b9cac2 fc632551")

    /// The order less a number of 32 bytes.
    static func minus(_ number: ArraySlice<UInt8>) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(bytes[index]) - Int(number[number.startIndex + index]) - borrow
            result[index] = UInt8(truncatingIfNeeded: difference)
            borrow = difference < 0 ? 1 : 0
        }
        return result
    }
}
