/// How long a request is, read from as much of it as has come.
struct RequestHead: Hashable {
    /// Longest head that is looked at, in bytes; whoever sends a longer one speaks no HTTP that is answered here.
    static let limit = 4096
    private static let lengthField = Array("content-length:".utf8)

    /// Bytes of the head, the blank line included.
    let length: Int
    let bodyLength: Int

    /// Nil until the head is complete. A head without a length has no body.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        let newline = UInt8(ascii: "\n")
        var bodyLength = 0
        var line = bytes.startIndex
        let end = bytes.index(line, offsetBy: Self.limit, limitedBy: bytes.endIndex) ?? bytes.endIndex
        while let lineEnd = bytes[line..<end].firstIndex(of: newline) {
            let text = bytes[line..<lineEnd]
            line = bytes.index(after: lineEnd)
            if text.count <= 1 {
                length = bytes.distance(from: bytes.startIndex, to: line)
                self.bodyLength = bodyLength
                return
            }
            if Self.isLength(text) { bodyLength = Self.number(text.dropFirst(Self.lengthField.count)) }
        }
        return nil
    }

    private static func isLength(_ line: some RandomAccessCollection<UInt8>) -> Bool {
        // A letter's two cases differ in one bit, which the other characters of the name have set.
        line.count > lengthField.count && zip(line, lengthField).allSatisfy { $0 | 0x20 == $1 }
    }

    private static func number(_ digits: some RandomAccessCollection<UInt8>) -> Int {
        digits.reduce(0) { number, byte in
            let digit = byte &- UInt8(ascii: "0")
            return digit < 10 ? number &* 10 &+ Int(digit) : number
        }
    }
}
