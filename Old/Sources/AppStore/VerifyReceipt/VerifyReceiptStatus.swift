import Purchases

/// What the `status` of a verifyReceipt answer means to a submission.
///
/// [status](https://developer.apple.com/documentation/appstorereceipts/status)
enum VerifyReceiptStatus {
    /// What follows from a status.
    enum Disposition: Hashable {
        /// The receipt is Apple's; the answer says what it holds.
        case authentic
        /// Our request is wrong.
        case requestRefused
        /// The receipt is malformed, or Apple has a temporary fault: the answer is the same for both.
        case perhapsMalformed
        /// The receipt could not be authenticated.
        case perhapsNotAuthentic
        /// The shared secret is not the app's.
        case sharedSecretRefused
        /// Apple cannot tell at the moment.
        case temporarilyUnable
        /// Authentic, but the subscription is over; for receipts in the style of iOS 6 only.
        case subscriptionExpired
        /// The receipt belongs to the other endpoint.
        case belongs(to: Environment)
        /// The account was not found or was deleted.
        case accountGone
        /// Apple's flag `is_retryable` decides; without it Apple cannot tell at the moment.
        case byRetryableFlag
        /// Not documented, or no longer sent.
        case unknown
    }

    /// Every known status, in Apple's order.
    static let table: [(codes: ClosedRange<Int>, disposition: Disposition)] = [
        (0...0, .authentic),
        (21000...21000, .requestRefused),
        (21001...21001, .unknown),
        (21002...21002, .perhapsMalformed),
        (21003...21003, .perhapsNotAuthentic),
        (21004...21004, .sharedSecretRefused),
        (21005...21005, .temporarilyUnable),
        (21006...21006, .subscriptionExpired),
        (21007...21007, .belongs(to: .sandbox)),
        (21008...21008, .belongs(to: .production)),
        (21009...21009, .temporarilyUnable),
        (21010...21010, .accountGone),
        (21100...21199, .byRetryableFlag),
    ]

    /// What a status means; `unknown` for one that is not in the table.
    static func disposition(of status: Int) -> Disposition {
        table.first { $0.codes.contains(status) }?.disposition ?? .unknown
    }
}
