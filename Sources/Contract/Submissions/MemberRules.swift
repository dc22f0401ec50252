/// The values that each member of a submission may hold.
enum MemberRules {
    /// Longest id of a submission, user or order, in characters.
    static let maxIDLength = 128
    /// Longest bundle or product id. App Store Connect allows 155 and 100 characters.
    static let maxAppleIDLength = 255

    static func isSubmissionID(_ text: String) -> Bool {
        (1...maxIDLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }

    static func isUserID(_ text: String) -> Bool { isText(text, longest: maxIDLength) }

    static func isOrderID(_ text: String) -> Bool { isText(text, longest: maxIDLength) }

    static func isAppleID(_ text: String) -> Bool { isText(text, longest: maxAppleIDLength) }

    /// 1-20 ASCII digits: what may go into a URL path of Apple's without a thought.
    static func isTransactionID(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// A UUID in its usual form, in lower case; nil for anything else.
    static func uuid(_ text: String) -> String? {
        guard text.utf8.count == 36 else { return nil }
        let hasForm = text.utf8.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: Hexadecimal.value(of: byte) != nil
            }
        }
        return hasForm ? text.lowercased() : nil
    }

    /// Not empty, not too long, and free of control characters, which no id has and logs and tables suffer from.
    private static func isText(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
