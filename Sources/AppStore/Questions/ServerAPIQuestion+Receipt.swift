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
    /// The id that a subscription began with means the period that runs: see ``ClaimPolicy/runningPeriod(among:)``. If
    /// the receipt has none that runs, it may be older than the latest renewal, so the question is for the history.
    init?(subject: QuestionSubject, receipt: AppReceipt, in environment: Environment? = nil) {
        let entries = receipt.purchases.filter { $0.transactionID?.isWellFormed ?? false }
        let policy = ClaimPolicy(app: subject.rules.app, submission: subject.submission)
        let readable = entries.compactMap { $0.purchase(in: environment ?? .production) }
        if let period = policy.runningPeriod(among: readable)?.transactionID {
            let known = QuestionSubject(
                submission: subject.submission.claiming(period), rules: subject.rules,
                firstCheckedAt: subject.firstCheckedAt)
            self.init(subject: known, target: .transaction(period), isAttested: true, in: environment)
            return
        }
        let claim = subject.submission.claim
        let isRenewed = policy.meansLaterPeriod(among: readable)
        let restored = entries.first { $0.hasDeviceID && $0.transactionID == claim.transactionID }
        if restored == nil, !isRenewed, let claimed = claim.transactionID,
            entries.contains(where: { $0.transactionID == claimed || $0.originalTransactionID == claimed })
        {
            self.init(subject: subject, target: .transaction(claimed), isAttested: true, in: environment)
            return
        }
        let later = isRenewed ? entries.first { $0.originalTransactionID == claim.transactionID } : nil
        let entry = later ?? restored ?? entries.first { $0.productID == claim.productID } ?? entries.first
        guard let entry,
            let transactionID = isRenewed || entry.hasDeviceID ? entry.originalTransactionID : entry.transactionID
        else { return nil }
        var proven = entries.compactMap { entry in
            entry.transactionID.map {
                ProvenPurchase(
                    $0, original: entry.originalTransactionID, webOrderLineItemID: entry.webOrderLineItemID,
                    of: entry.productID)
            }
        }
        // Its later periods prove the first one, too.
        if isRenewed { proven.append(ProvenPurchase(transactionID, of: entry.productID)) }
        let customer = ProvenCustomer(transactionID, of: entry.productID, purchases: proven)
        self.init(subject: subject, target: .history(of: customer), in: environment)
    }
}
