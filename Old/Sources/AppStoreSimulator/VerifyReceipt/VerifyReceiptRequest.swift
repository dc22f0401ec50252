/// The body of a call, as Apple's page "requestBody" of verifyReceipt has it.
struct VerifyReceiptRequest: Decodable, Sendable {
    let receiptData: String?
    let password: String?
    let excludeOldTransactions: Bool?

    private enum CodingKeys: String, CodingKey {
        case receiptData = "receipt-data"
        case password
        case excludeOldTransactions = "exclude-old-transactions"
    }
}
