import Purchases

/// Verdicts on answers that hold no purchases to look at.
enum RefusalVerdict {
    /// How often 21003 must come in a row before it is believed.
    static let triesBeforeNotAuthentic = 2

    /// The verdict on a status other than success, a hop or a refused secret.
    static func of(_ disposition: VerifyReceiptStatus.Disposition, _ response: VerifyReceiptResponse) -> Verdict {
        let status = response.status
        switch disposition {
        case .perhapsMalformed:
            // It parsed here, so the fault may be Apple's; only time tells.
            let rejection = Rejection(
                .receiptMalformed, "Apple keeps calling the receipt malformed (status \(status)).")
            return .retry(.perhapsMalformed, notBefore: nil, patience: .window(then: rejection))
        case .perhapsNotAuthentic:
            let rejection = Rejection(
                .receiptNotAuthentic, "Apple could not authenticate the receipt (status \(status)).")
            return .retry(
                .perhapsNotAuthentic, notBefore: nil, patience: .tries(triesBeforeNotAuthentic, then: rejection))
        case .temporarilyUnable: return .retry(.temporarilyUnable, notBefore: nil, patience: .unlimited)
        case .byRetryableFlag:
            guard response.isRetryable == false else {
                return .retry(.temporarilyUnable, notBefore: nil, patience: .unlimited)
            }
            return .rejected(Rejection(.receiptNotAuthentic, "Apple refused the receipt for good (status \(status))."))
        case .subscriptionExpired:
            return .rejected(Rejection(.subscriptionExpired, "The subscription is over (status \(status))."))
        case .accountGone:
            return .rejected(Rejection(.accountGone, "The purchaser's account is gone (status \(status))."))
        case .requestRefused:
            return .hold(.requestRefused, detail: "verifyReceipt refused our request (status \(status)).")
        case .sharedSecretRefused:
            return .hold(.sharedSecretRefused, detail: "verifyReceipt refused the shared secret (status \(status)).")
        case .authentic, .belongs, .unknown:
            return .hold(.unknownAnswer, detail: "verifyReceipt answered with status \(status).")
        }
    }
}
