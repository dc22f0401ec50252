import Purchases

/// Judges an answer of status 0: whose receipt it is, from which environment, and what in it was claimed.
struct AnswerJudge {
    let app: App
    let submission: Submission
    let receivedAt: Timestamp

    /// The verdict on an answer of one of the two endpoints.
    func verdict(on response: VerifyReceiptResponse, from endpoint: Environment) -> Verdict {
        guard let bundleID = response.bundleID else {
            return .hold(.incompleteAnswer, detail: "Apple's answer names no bundle id.")
        }
        guard bundleID == app.bundleID else {
            return .rejected(Rejection(.bundleMismatch, "Apple attests the receipt to another app."))
        }
        guard agrees(response.environment, with: endpoint), agrees(response.receiptType, with: endpoint) else {
            return .hold(
                .unknownAnswer, detail: "The \(endpoint.rawValue) endpoint answered for another environment.")
        }
        var purchases: [Purchase] = []
        var unreadable = UnreadablePurchases()
        for record in response.records {
            if let purchase = record.purchase(in: endpoint) {
                purchases.append(purchase)
            } else {
                unreadable.append(transactionID: record.transactionID, productID: record.productID)
            }
        }
        let verdict = ClaimPolicy(app: app, submission: submission, receivedAt: receivedAt)
            .verdict(on: purchases, by: .verifyReceipt)
        if case .verified = verdict { return verdict }
        if unreadable.mayBeClaimed(by: submission, beside: purchases) {
            return .hold(.incompleteAnswer, detail: "A purchase in Apple's answer lacks what a grant needs.")
        }
        return verdict
    }

    /// Whether a name of an environment is that of the endpoint, or absent. The endpoint is the environment: what the
    /// sandbox answers is never production.
    private func agrees(_ name: String?, with endpoint: Environment) -> Bool {
        switch name.map(ReceiptOrigin.init) {
        case nil: true
        case .production: endpoint == .production
        case .sandbox: endpoint == .sandbox
        case .xcode, .other: false
        }
    }
}
