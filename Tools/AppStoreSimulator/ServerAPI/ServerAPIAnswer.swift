internal import Contract

/// The bodies of the App Store Server API's answers.
struct ServerAPIAnswer: Sendable {
    /// A call whose token and id were found good.
    struct Question: Sendable {
        let call: ServerAPICall
        let query: QueryItems
        let app: BundleID
        let environment: Environment
        let now: Timestamp
    }

    /// The data to be signed and answered.
    enum Found: Equatable, Sendable {
        case transaction(Registration)
        case history([Registration], HistoryQuery.Bookmark, hasMore: Bool)
        case subscriptions([Registration])
    }

    let signer: SignedDataSigner

    /// Looks up the subject of a call.
    ///
    /// - Parameter withoutPurchases: Whether Apple is to act as if it knew none.
    /// - Throws: The error that is the answer.
    func found(
        for question: Question, in table: inout TransactionTable, withoutPurchases: Bool
    ) throws(ServerAPIError) -> Found {
        let id = TransactionID(question.call.id)
        switch question.call.endpoint {
        case .transaction:
            let entry = table.transaction(id, of: question.app, in: question.environment, now: question.now)
            guard let entry, !withoutPurchases else { throw .transactionIDNotFound }
            return .transaction(entry.registration)
        case .history:
            let query = try HistoryQuery(question.query)
            let history = table.history(id, of: question.app, in: question.environment, now: question.now)
            guard let history else { throw .transactionIDNotFound }
            let page = query.page(of: withoutPurchases ? [] : history)
            return .history(page.entries.map(\.registration), page.bookmark, hasMore: page.hasMore)
        case .subscriptions:
            let statuses = try statuses(question.query)
            let history = table.history(id, of: question.app, in: question.environment, now: question.now)
            guard let history else { throw .transactionIDNotFound }
            let newest = newestPeriods(of: withoutPurchases ? [] : history.map(\.registration))
            return .subscriptions(
                newest.filter { statuses.isEmpty || statuses.contains($0.status(now: question.now)) })
        }
    }

    /// The body, everything in it signed at the question's moment.
    func text(_ found: Found, for question: Question) throws(SignedDataError) -> String {
        var body = JSONText()
        switch found {
        case .transaction(let registration):
            body.add("signedTransactionInfo", try signed(registration, now: question.now))
        case .history(let registrations, let bookmark, let hasMore):
            body.add("revision", bookmark.text)
            body.add("hasMore", json: hasMore ? "true" : "false")
            add(question, to: &body)
            var signed: [String] = []
            for registration in registrations { signed.append(try self.signed(registration, now: question.now)) }
            body.add("signedTransactions", json: JSONText.array(signed))
        case .subscriptions(let registrations):
            add(question, to: &body)
            var last: [String] = []
            for registration in registrations { last.append(try lastTransaction(registration, now: question.now)) }
            var group = JSONText()
            group.add("subscriptionGroupIdentifier", SimulatedPurchase.subscriptionGroup)
            group.add("lastTransactions", json: "[" + last.joined(separator: ",") + "]")
            body.add("data", json: last.isEmpty ? "[]" : "[\(group.text)]")
        }
        return body.text
    }

    private func add(_ question: Question, to body: inout JSONText) {
        body.add("bundleId", question.app.rawValue)
        // Apple's sandbox has no app record.
        if question.environment == .production { body.add("appAppleId", 1_234_567_890) }
        body.add("environment", question.environment.signedName)
    }

    private func signed(_ registration: Registration, now: Timestamp) throws(SignedDataError) -> String {
        try signer.sign(registration.transaction.payload(signedAt: now).text)
    }

    private func lastTransaction(_ registration: Registration, now: Timestamp) throws(SignedDataError) -> String {
        var item = JSONText()
        item.add("originalTransactionId", registration.transaction.purchase.originalTransactionID.rawValue)
        item.add("status", Int64(registration.status(now: now).rawValue))
        item.add("signedTransactionInfo", try signed(registration, now: now))
        item.add("signedRenewalInfo", try signer.sign(registration.renewalPayload(now: now).text))
        return item.text
    }

    private func statuses(_ query: QueryItems) throws(ServerAPIError) -> Set<Registration.SubscriptionStatus> {
        var statuses: Set<Registration.SubscriptionStatus> = []
        for text in query.all("status") {
            guard let status = Int(text).flatMap(Registration.SubscriptionStatus.init) else { throw .invalidStatus }
            statuses.insert(status)
        }
        return statuses
    }

    /// Of each subscription its period that ends last, in the order of the subscriptions' first purchases.
    private func newestPeriods(of registrations: [Registration]) -> [Registration] {
        var newest: [TransactionID: Registration] = [:]
        for registration in registrations where registration.transaction.purchase.kind == .autoRenewable {
            let known = newest[registration.transaction.purchase.originalTransactionID]
            if known.map({ $0.end <= registration.end }) ?? true {
                newest[registration.transaction.purchase.originalTransactionID] = registration
            }
        }
        return newest.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension Registration {
    fileprivate var end: Timestamp { transaction.purchase.expiresAt ?? transaction.purchase.purchasedAt }
}
