/// The id of a paid period of a subscription, `web_order_line_item_id`, in the one form that grant keys are made of.
///
/// Apple's are numbers, as text in answers and as an integer in receipts (attribute 1711). Zeros in front make no other
/// number, and zero is none: all periods that have it would count as one.
enum LineItem {
    /// The id that a text stands for; nil for none. A text that is no number stays as it is.
    static func id(_ text: String) -> String? {
        guard text.utf8.first == UInt8(ascii: "0"), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return text
        }
        let digits = text.drop { $0 == "0" }
        return digits.isEmpty ? nil : String(digits)
    }
}
