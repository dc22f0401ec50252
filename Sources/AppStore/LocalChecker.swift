public import Contract

/// The local check: the part of verification without a call to Apple. Decides about evidence by its form, Apple's
/// signatures and the app's rules, and names the question to Apple where one is needed.
public struct LocalChecker: Sendable {
    public enum Outcome: Sendable {
        /// Verified, rejected, signed ahead of our clock, or held because the app lacks a key.
        case concluded(Verdict)
        case ask(any AppleQuestion)
    }

    private let apps: [BundleID: AppRules]
    private let known: Set<BundleID>
    private let verifiers: SignatureVerifiers

    /// - Parameter known: Further apps that are ours, and should be configured: their submissions are held.
    public init(apps: [AppRules], verifiers: SignatureVerifiers, known: Set<BundleID> = []) {
        self.known = known
        self.apps = Dictionary(apps.map { ($0.app.bundleID, $0) }) { _, later in later }
        self.verifiers = verifiers
    }

    /// The rules of an app; nil if it is not configured.
    public func rules(of bundleID: BundleID) -> AppRules? { apps[bundleID] }

    /// Checks a submission's evidence. Evidence of no known form is rejected, and evidence that Apple signed is
    /// decided, at no cost to Apple.
    /// - Parameters:
    ///   - submission: Gets the moment that its evidence allows, see ``SubmissionMoment``. For one that was accepted
    ///     before the present does not count: no wait costs a period.
    ///   - isRow: The submission was accepted before and waits in `retries`: if its app is not configured any more,
    ///     it is held.
    ///   - now: Wall-clock time: bounds how far ahead evidence may be signed, and how old it may be unconfirmed.
    public func check(_ submission: inout Submission, isRow: Bool = false, at now: Timestamp) -> Outcome {
        guard let rules = apps[submission.bundleID] else {
            let detail = "No app with this bundle id is configured."
            return .concluded(
                isRow || known.contains(submission.bundleID)
                    ? .hold(.appNotConfigured, detail: detail) : .rejected(Rejection(.unknownApp, detail)))
        }
        let terms = Terms(rules: rules, isRow: isRow, now: now)
        switch submission.evidence {
        case .receipt(let base64): return check(receipt: base64, &submission, terms)
        case .signedTransaction(let text): return check(signed: text, &submission, terms)
        case .transactionID(let id):
            guard id.isWellFormed else {
                return .concluded(.rejected(Rejection(.transactionNotFound, "The transaction id is none of Apple's.")))
            }
            return askServerAPI(ServerAPIQuestion(subject: terms.subject(submission), target: .transaction(id)))
        }
    }

    /// Decides by Apple's signature on a receipt alone, while verifyReceipt does not reply. Only a "yes" counts: a
    /// purchase that the receipt does not hold may be in Apple's reply. Other evidence is checked as ever.
    public func checkBySignature(_ submission: Submission, at now: Timestamp) -> Outcome {
        var submission = submission
        let outcome = check(&submission, isRow: true, at: now)
        guard case .ask = outcome, case .receipt(let base64) = submission.evidence,
            let rules = apps[submission.bundleID], rules.receipts == .verifyReceipt,
            let receipt = try? AppReceipt.parse(base64: base64), verifiers.isSigned(receipt),
            case .verdict(let verdict) = Self.conclusion(on: receipt, of: submission, app: rules.app),
            case .verified = verdict
        else { return outcome }
        return .concluded(verdict)
    }

    /// Whether Apple's signature on a receipt holds; false for other evidence.
    public func isSigned(_ submission: Submission) -> Bool {
        guard case .receipt(let base64) = submission.evidence,
            let receipt = try? AppReceipt.parse(base64: base64)
        else { return false }
        return verifiers.isSigned(receipt)
    }

    /// The terms of one check; see ``check(_:isRow:at:)``.
    private struct Terms {
        let rules: AppRules
        let isRow: Bool
        let now: Timestamp

        func subject(_ submission: Submission) -> QuestionSubject {
            QuestionSubject(submission: submission, rules: rules, firstCheckedAt: isRow ? nil : now)
        }
    }

    // MARK: Receipts

    private func check(receipt base64: EvidenceText, _ submission: inout Submission, _ terms: Terms) -> Outcome {
        let text: ReceiptText
        let receipt: AppReceipt
        do throws(AppReceiptError) {
            (text, receipt) = try AppReceipt.read(base64)
        } catch {
            if let (text, receipt) = TransactionReceipt.read(base64) {
                return check(receipt, text, &submission, terms)
            }
            let detail = EvidenceForm.detail(error.detail, of: base64, in: .appReceipt)
            return .concluded(.rejected(Rejection(.receiptMalformed, detail)))
        }
        if let createdAt = receipt.createdAt {
            submission = submission.received(notBefore: createdAt, isRow: terms.isRow, now: terms.now)
        }
        let subject = terms.subject(submission)
        if let rejection = receipt.contradiction(with: subject.rules.app) { return .concluded(.rejected(rejection)) }
        guard subject.rules.receipts != .verifyReceipt else {
            let fingerprint = ReceiptFingerprint(
                createdAt: receipt.createdAt,
                transactions: receipt.firstTransactionIDs(ReceiptFingerprint.maxTransactions),
                saysSandbox: receipt.origin == .sandbox)
            return .ask(
                ReceiptQuestion(
                    subject: subject, base64: text.base64, fingerprint: fingerprint, isFresh: fingerprint.namesNothing))
        }
        do throws(ReceiptSignatureError) {
            try verifiers.receipts.verify(receipt)
        } catch {
            return .concluded(error.verdict)
        }
        // Apple's signature says it, and no reply says it sooner.
        if receipt.origin == .sandbox, !terms.rules.app.sandbox.allows(submission.userID) {
            let claim = submission.claim
            return .concluded(.rejected(PurchaseCheck.sandboxNotAllowed(claim.transactionID, of: claim.productID)))
        }
        if subject.rules.receipts == .serverAPI,
            let question = ServerAPIQuestion(subject: subject, receipt: receipt, in: receipt.origin?.environment)
        {
            return askServerAPI(question)
        }
        // A receipt without an id to ask for is decided like one of `local`: nothing in it can be granted.
        return decideLocally(receipt, subject)
    }

    /// Only verifyReceipt can tell whether a receipt in the style of iOS 6 is Apple's. A receipt that waits is still
    /// asked about there after the app's setting has changed: our own configuration fails no purchase.
    private func check(
        _ receipt: TransactionReceipt, _ text: ReceiptText, _ submission: inout Submission, _ terms: Terms
    ) -> Outcome {
        if let rejection = receipt.contradiction(with: terms.rules.app) { return .concluded(.rejected(rejection)) }
        guard terms.rules.receipts == .verifyReceipt || terms.isRow else {
            let detail = "It is a transactionReceipt in the style of iOS 6, which only verifyReceipt can authenticate."
            return .concluded(.rejected(Rejection(.receiptMalformed, detail, transactionID: receipt.transactionID)))
        }
        if let purchasedAt = receipt.purchasedAt {
            submission = submission.received(notBefore: purchasedAt, isRow: terms.isRow, now: terms.now)
        }
        let fingerprint = ReceiptFingerprint(
            transactions: [receipt.transactionID], saysSandbox: receipt.saysSandbox)
        return .ask(
            ReceiptQuestion(subject: terms.subject(submission), base64: text.base64, fingerprint: fingerprint))
    }

    /// A receipt lacks later refunds and purchases, account tokens, and whether a purchase is shared within a family.
    /// The App Store Server API has them, if the app has a key.
    private func decideLocally(_ receipt: AppReceipt, _ subject: QuestionSubject) -> Outcome {
        let verdict: Verdict
        switch Self.conclusion(on: receipt, of: subject.submission, app: subject.rules.app) {
        case .verdict(let known) where !known.isOpen:
            guard case .rejected = known, Self.meansLaterPeriod(receipt, subject) else { return .concluded(known) }
            verdict = known
        case .verdict(let unknown), .tokensUnknown(let unknown): verdict = unknown
        }
        if subject.rules.hasServerAPIKey,
            let question = ServerAPIQuestion(subject: subject, receipt: receipt, in: receipt.origin?.environment)
        {
            return askServerAPI(question.otherwise(verdict))
        }
        // The receipt will never hold another purchase.
        if case .doubt(_, let end) = verdict { return .concluded(end.verdict) }
        return .concluded(verdict)
    }

    /// Whether the claim may be of a period after all that the receipt has.
    private static func meansLaterPeriod(_ receipt: AppReceipt, _ subject: QuestionSubject) -> Bool {
        receipt.origin?.environment.map { environment in
            ClaimPolicy(app: subject.rules.app, submission: subject.submission)
                .meansLaterPeriod(among: receipt.purchases(in: environment).readable)
        } ?? false
    }

    /// The conclusion on a receipt whose signature held: every word of it is taken for Apple's.
    private static func conclusion(
        on receipt: AppReceipt, of submission: Submission, app: App
    ) -> ClaimPolicy.Conclusion {
        guard let bundleID = receipt.bundleID else {
            return .verdict(.hold(.incompleteAnswer, detail: "The receipt names no bundle id."))
        }
        guard bundleID == app.bundleID else {
            return .verdict(.rejected(Rejection(.bundleMismatch, "Apple attests the receipt to another app.")))
        }
        guard receipt.origin != .xcode else {
            return .verdict(
                .rejected(Rejection(.environmentNotAllowed, "The receipt was made by Xcode, not by Apple.")))
        }
        guard let environment = receipt.origin?.environment else {
            return .verdict(.hold(.unknownAnswer, detail: "The receipt is of an environment that is not known."))
        }
        let (purchases, unreadable) = receipt.purchases(in: environment)
        return ClaimPolicy(app: app, submission: submission).conclusion(
            on: purchases, beside: unreadable, by: .local, attestsTokens: false)
    }

    // MARK: Signed transactions

    private func check(signed text: EvidenceText, _ submission: inout Submission, _ terms: Terms) -> Outcome {
        let transaction: SignedTransaction
        do throws(SignedTransactionError) {
            transaction = try verifiers.transactions.verify(text, now: terms.now)
        } catch {
            return .concluded(Self.refusal(of: text, for: error))
        }
        let signedAt = transaction.signedAt
        submission = submission.received(notBefore: signedAt, now: terms.isRow ? signedAt : terms.now)
        let policy = ClaimPolicy(app: terms.rules.app, submission: submission)
        let verdict = policy.verdict(on: transaction, by: .signedTransaction)
        if transaction.bundleID == nil, let question = Self.whose(transaction, terms.subject(submission)) {
            return askServerAPI(question)
        }
        guard let age = terms.rules.confirmsSignedTransactionsOlderThan, case .verified = verdict,
            case .success(let purchase) = transaction.purchase,
            // Against the present, because a submission may have waited for days, and the player asked for a refund.
            max(terms.now, submission.receivedAt).since(transaction.signedAt) > age
        else { return .concluded(verdict) }
        // Signed long ago: a refund since is not in it.
        return askServerAPI(
            ServerAPIQuestion(
                subject: terms.subject(submission),
                target: .confirmation(purchase.transactionID, since: transaction.signedAt),
                in: purchase.environment))
    }

    /// The question for a transaction that Apple signed without naming an app. Apple replies to an app's own key for
    /// that app alone. Nil where the app has no key, or the transaction no names to ask by.
    private static func whose(_ transaction: SignedTransaction, _ subject: QuestionSubject) -> ServerAPIQuestion? {
        guard subject.rules.hasServerAPIKey, let id = transaction.transactionID, id.isWellFormed,
            let environment = transaction.knownEnvironment
        else { return nil }
        return ServerAPIQuestion(
            subject: subject, target: .confirmation(id, since: transaction.signedAt), in: environment)
    }

    /// The verdict on an error, with the form that the text has instead.
    private static func refusal(of text: EvidenceText, for error: SignedTransactionError) -> Verdict {
        guard case .rejected(let rejection) = error.verdict else { return error.verdict }
        if let token = try? CompactJWS(text), token.saysLocalTesting {
            return SignedTransactionError.localTesting.verdict
        }
        let detail = EvidenceForm.detail(rejection.detail, of: text, in: .signedTransaction)
        return .rejected(Rejection(rejection.reason, detail))
    }

    private func askServerAPI(_ question: ServerAPIQuestion) -> Outcome {
        guard question.subject.rules.hasServerAPIKey else {
            return .concluded(
                .hold(
                    .credentialsMissing,
                    detail: "The App Store Server API must be asked, and the app has no key for it."))
        }
        return .ask(question)
    }
}

extension AppReceipt {
    /// The readable transactions of the receipt's first purchases.
    fileprivate func firstTransactionIDs(_ count: Int) -> [TransactionID] {
        purchaseSets.prefix(count).compactMap { ReceiptAttributes(set: $0)?.text(ReceiptPurchase.transactionIDType) }
            .map { TransactionID(reading: $0) }
    }

    /// The purchases, one per transaction id, and the names of the unreadable ones.
    ///
    /// A receipt has each transaction once. If one stood there twice, the word that it was revoked would count.
    fileprivate func purchases(in environment: Environment) -> (readable: [Purchase], unreadable: UnreadablePurchases) {
        var purchases: [Purchase] = []
        var places: [TransactionID: Int] = [:]
        var unreadable = UnreadablePurchases()
        for set in purchaseSets {
            let entry = ReceiptPurchase(set)
            guard let purchase = entry?.purchase(in: environment) else {
                unreadable.append(
                    transactionID: entry?.transactionID, original: entry?.originalTransactionID,
                    productID: entry?.productID)
                continue
            }
            if let place = places[purchase.transactionID] {
                if purchase.revokedAt != nil { purchases[place] = purchase }
            } else {
                places[purchase.transactionID] = purchases.count
                purchases.append(purchase)
            }
        }
        return (purchases, unreadable)
    }
}
