internal import Contract

/// The body of a call, as Apple's page "requestBody" of verifyReceipt has it.
struct VerifyReceiptRequest: Sendable {
    /// Base64.
    let receiptData: [UInt8]?
    let password: String?
    let excludesOldTransactions: Bool

    /// Nil for a body that is no JSON object, or has a member of another type.
    init?(_ body: [UInt8]) {
        guard let members = try? StrictJSON(body).members else { return nil }
        switch members["receipt-data"] {
        case .string: receiptData = members.bytes(of: "receipt-data").map { Array($0) }
        case nil, .null: receiptData = nil
        default: return nil
        }
        switch members["password"] {
        case .string(let text): password = text
        case nil, .null: password = nil
        default: return nil
        }
        switch members["exclude-old-transactions"] {
        case .boolean(let flag): excludesOldTransactions = flag
        case nil, .null: excludesOldTransactions = false
        default: return nil
        }
    }
}
