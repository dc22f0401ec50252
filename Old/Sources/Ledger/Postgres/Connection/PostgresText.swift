/// Texts as PostgreSQL takes them: it has no NUL, which ids may hold.
///
/// A NUL becomes the control character SUB and a `0`, a SUB becomes two. Ordinary texts stay as they are, and different
/// texts stay different.
enum PostgresText {
    private static let substitute: UInt8 = 0x1a

    /// Appends a text's bytes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: { $0 == 0 || $0 == substitute }) else {
                bytes.append(contentsOf: utf8)
                return
            }
            for byte in utf8 {
                switch byte {
                case 0: bytes += [substitute, UInt8(ascii: "0")]
                case substitute: bytes += [substitute, substitute]
                default: bytes.append(byte)
                }
            }
        }
    }

    /// The text of a column's bytes.
    static func decode(_ bytes: some Collection<UInt8>) -> String {
        guard bytes.contains(substitute) else { return String(decoding: bytes, as: UTF8.self) }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                text.append(byte == substitute ? substitute : 0)
                isEscaped = false
            } else if byte == substitute {
                isEscaped = true
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
