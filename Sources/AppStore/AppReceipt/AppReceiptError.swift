/// Why evidence is not an App Store receipt. The same bytes give the same error for ever, so the submission that
/// carries them is to be rejected; asking Apple or trying again cannot help.
public enum AppReceiptError: Error, Hashable, Sendable, CaseIterable {
    /// More than ``AppReceipt/maxBytes``; not looked into.
    case tooLarge
    /// Nothing but white space.
    case empty
    /// A character that no base64 alphabet has, padding in the middle, or a length that base64 cannot have.
    case notBase64
    /// Not one complete ASN.1 value: garbage, truncated, nested too deep, of too many values, or followed by
    /// more bytes.
    case notASN1
    /// ASN.1, but not a PKCS#7 signed-data envelope.
    case notSignedData
    /// A PKCS#7 envelope around something that is not a receipt's set of attributes.
    case notReceiptAttributes

    /// One sentence for people.
    public var detail: String {
        switch self {
        case .tooLarge: "The receipt is larger than a receipt can be."
        case .empty: "The receipt is empty."
        case .notBase64: "The receipt is not base64."
        case .notASN1: "The receipt is truncated or no ASN.1 data."
        case .notSignedData: "The receipt is not a PKCS#7 signed-data container."
        case .notReceiptAttributes: "The container holds no receipt attributes."
        }
    }
}
