import Foundation

/// The transaction that a benchmark's receipt is about, written over sixteen characters of its signature's text.
///
/// Digits are characters of base64, so the receipt stays one that can be read, and whoever has its text knows the
/// transaction without reading it. The signature is broken by it; the worker leaves signatures of receipts to Apple.
enum ReceiptNumber {
    private static let digits = 16
    /// Characters behind the number: base64 may fill its last four up.
    private static let behind = 4
    /// A request's last bytes, with all that may follow the receipt in it.
    private static let tail = 256

    /// The first number of so many digits; Apple's have none of their own before the point.
    static let first = 2_000_000_000_000_000

    /// Where a receipt has this number, in bytes of DER: as its purchase's transaction, and as the original one.
    static func places(of number: Int, in der: [UInt8]) -> [Int] {
        let text = Array(String(number).utf8)
        return der.indices.dropLast(text.count - 1).filter { der[$0..<$0 + text.count].elementsEqual(text) }
    }

    /// Writes a number into a receipt's text in the place of others, encoding no more of it than these.
    static func write(_ number: Int, at places: [Int], of der: [UInt8], over base64: inout [UInt8]) {
        let text = Array(String(number).utf8)
        for place in places {
            // Base64 makes four characters of three bytes.
            let bytes = place / 3 * 3..<(place + text.count + 2) / 3 * 3
            var part = Array(der[bytes])
            part.replaceSubrange(place - bytes.lowerBound..<place - bytes.lowerBound + text.count, with: text)
            let encoded = Data(part).base64EncodedData()
            base64.replaceSubrange(bytes.lowerBound / 3 * 4..<bytes.upperBound / 3 * 4, with: encoded)
        }
    }

    /// - Parameters:
    ///   - number: ``first`` or a little more.
    ///   - base64: Longer than the number.
    static func write(_ number: Int, over base64: inout [UInt8]) {
        let text = Array(String(number).utf8.suffix(digits))
        let start = base64.count - behind - digits
        base64.replaceSubrange(start..<start + digits, with: text)
    }

    /// The digits, from the body of a verifyReceipt request; nil if there are none.
    static func read(fromBody body: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        // No character of base64 is a quotation mark: the first one near the end closes the receipt.
        let tail = body.suffix(tail)
        guard let quote = tail.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let number = Array(tail[..<quote].suffix(digits + behind).prefix(digits))
        let isNumber = number.count == digits && number.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
        return isNumber ? number : nil
    }
}
