import Contract

extension ServerAPIQuestion {
    /// Looks up the claim of a submission by its receipt. Apple must have authenticated or signed the receipt.
    /// Otherwise anybody could have other people's transactions looked up. Nil if the receipt holds no id: one of a
    /// fresh installation costs nothing, and leads to no customer.
    ///
    /// The question is for the claimed transaction if the receipt names it, as a purchase's own id or as its
    /// original's. Otherwise it is for the history of the receipt's customer, which also has later purchases. So it is
    /// for a restored purchase: its own id is the device's, and Apple's records may not have it. Any original id of the
    /// customer leads to the history; one of the claimed product is preferred.
    ///
    /// The id that a subscription began with means the period that runs, if the receipt has it: see
    /// ``runningPeriod(of:among:)``.
    init?(subject: QuestionSubject, receipt: AppReceipt, in environment: Environment? = nil) {
        let entries = receipt.purchases.filter { $0.transactionID?.isWellFormed ?? false }
        if let period = Self.runningPeriod(of: subject.submission, among: entries) {
            let known = QuestionSubject(
                submission: subject.submission.claiming(period), rules: subject.rules,
                firstCheckedAt: subject.firstCheckedAt)
            self.init(subject: known, target: .transaction(period), isAttested: true, in: environment)
            return
        }
        let claim = subject.submission.claim
        let restored = entries.first { $0.hasDeviceID && $0.transactionID == claim.transactionID }
        if restored == nil, let claimed = claim.transactionID,
            entries.contains(where: { $0.transactionID == claimed || $0.originalTransactionID == claimed })
        {
            self.init(subject: subject, target: .transaction(claimed), isAttested: true, in: environment)
            return
        }
        let entry = restored ?? entries.first { $0.productID == claim.productID } ?? entries.first
        guard let entry, let transactionID = entry.hasDeviceID ? entry.originalTransactionID : entry.transactionID
        else { return nil }
        let proven = entries.compactMap { entry in
            entry.transactionID.map {
                ProvenPurchase(
                    $0, original: entry.originalTransactionID, webOrderLineItemID: entry.webOrderLineItemID,
                    of: entry.productID)
            }
        }
        let customer = ProvenCustomer(transactionID, of: entry.productID, purchases: proven)
        self.init(subject: subject, target: .history(of: customer), in: environment)
    }

    /// The period that ran at the moment of submission, where the claimed id is that of a first period which is over.
    /// As ``ClaimPolicy`` has it; an order that names the first period is for that one.
    private static func runningPeriod(
        of submission: Submission, among entries: [ReceiptPurchase]
    ) -> TransactionID? {
        guard let claimed = submission.claim.transactionID else { return nil }
        func stands(_ period: ReceiptPurchase) -> Bool {
            period.revokedAt == nil && period.expiresAt.map { $0 > submission.receivedAt } ?? false
        }
        let first = entries.first { $0.transactionID == claimed }
        if let first, stands(first) || submission.orderID != nil { return nil }
        let product = submission.claim.productID
        let running = entries.filter { period in
            period.isPeriod && period.transactionID != claimed && period.originalTransactionID == claimed
                && stands(period) && period.purchasedAt.map { $0 <= submission.receivedAt } ?? false
                && (product == nil || product == period.productID)
        }
        return running.min { ($0.purchasedAt?.milliseconds ?? 0) < ($1.purchasedAt?.milliseconds ?? 0) }?.transactionID
    }
}
