import Foundation
import Purchases

/// A message of the input topic as a game's backend writes it.
struct SubmissionMessage: Encodable {
    let submissionId: String
    var userId: String
    var bundleId: String
    var receipt: String?
    var signedTransaction: String?
    var transactionId: String?
    var productId: String?
    var orderId: String?
    var appAccountToken: String?
    var environment: String?
    var submittedAt: String?

    /// The message in JSON.
    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
