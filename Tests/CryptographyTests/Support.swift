import Cryptography
import FoundationEssentials

/// The bytes that digits stand for, two each; anything else between them is passed over.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension PublicKey {
    /// A key on P-256 from its point, uncompressed (SEC 1, section 2.3.3), by way of PEM: RFC 5480, section 2.
    static func p256(point: [UInt8]) -> PublicKey? {
        let head = bytes("3059301306072a8648ce3d020106082a8648ce3d030107034200")
        let text = Data(head + point).base64EncodedString(options: .lineLength64Characters)
        return PublicKey(pem: "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n")
    }
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
