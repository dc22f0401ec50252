import Contract

/// Holds what the App Store Server API answers against Apple's signature. An answer is believed because its signature
/// holds, not because of the connection it came over.
struct AnswerAttestation {
    /// Why an answer is not believed, or not yet.
    struct Distrust: Error {
        let verdict: Verdict
    }

    let verifier: SignedTransactionVerifier
    /// The environment that was asked.
    let environment: Environment
    let now: Timestamp

    /// The transaction that was asked for, and no other.
    func transaction(_ text: EvidenceText, as asked: TransactionID) throws(Distrust) -> SignedTransaction {
        let transaction = try transaction(text)
        // Zeros in front, which the author of the message may have put there, make no other number.
        guard
            transaction.transactionID?.rawValue.drop(while: { $0 == "0" }) == asked.rawValue.drop(while: { $0 == "0" })
        else { throw Self.unknown("Apple answered with another transaction than the one asked for.") }
        return transaction
    }

    /// The transactions of a page, all of them one app's.
    func transactions(of page: HistoryAnswer, app: BundleID) throws(Distrust) -> [SignedTransaction] {
        guard page.bundleID ?? app == app, isName(page.environment) else {
            throw Self.unknown("Apple's history is of another app or environment.")
        }
        var transactions: [SignedTransaction] = []
        transactions.reserveCapacity(page.signedTransactions.count)
        for text in page.signedTransactions {
            let transaction = try transaction(text)
            guard transaction.bundleID ?? app == app else {
                throw Self.unknown("Apple's history holds a transaction of another app.")
            }
            transactions.append(transaction)
        }
        return transactions
    }

    /// The transaction in an answer, if Apple signed it, for the environment that was asked. If it did not, somebody
    /// stands in between, or this version is too old: neither is the player's fault.
    private func transaction(_ text: EvidenceText) throws(Distrust) -> SignedTransaction {
        let transaction: SignedTransaction
        do throws(SignedTransactionError) {
            transaction = try verifier.verify(text, now: now)
        } catch {
            if case .signedAhead = error { throw Distrust(verdict: error.verdict) }
            throw Self.unknown("Apple's answer is not signed as it must be. \(error.detail)")
        }
        guard isName(transaction.environment) else {
            throw Self.unknown("The \(environment.rawValue) API answered for another environment.")
        }
        return transaction
    }

    /// Whether a name of an environment, as Apple's answers have it, is that of the one that was asked, or absent.
    private func isName(_ name: String?) -> Bool {
        switch environment {
        case .production: name ?? "Production" == "Production"
        case .sandbox: name ?? "Sandbox" == "Sandbox"
        }
    }

    private static func unknown(_ detail: String) -> Distrust {
        Distrust(verdict: .hold(.unknownAnswer, detail: detail))
    }
}
