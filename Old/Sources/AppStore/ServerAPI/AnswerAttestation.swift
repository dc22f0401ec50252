import Purchases

/// Holds what the App Store Server API answers against Apple's signature.
struct AnswerAttestation: Sendable {
    /// Why an answer is not believed, or not yet.
    struct Distrust: Error {
        let verdict: Verdict
    }

    let transactions: SignedTransactionVerifier

    /// The transaction in an answer, if Apple signed it, for the environment that was asked. If it did not, somebody
    /// stands in between, or this version is too old: neither is the player's fault.
    func transaction(
        _ text: String, from environment: Environment, now: Timestamp
    ) throws(Distrust) -> SignedTransaction {
        let transaction: SignedTransaction
        do throws(SignedTransactionError) {
            transaction = try transactions.verify(text, now: now)
        } catch {
            if case .signedAhead = error { throw Distrust(verdict: error.verdict) }
            throw Self.unknown("Apple's answer is not signed as it must be. \(error.detail)")
        }
        guard transaction.environment ?? environment.nameInAnswers == environment.nameInAnswers else {
            throw Self.unknown("The \(environment.rawValue) API answered for another environment.")
        }
        return transaction
    }

    /// The transaction that was asked for, and no other.
    func transaction(
        _ text: String, as asked: TransactionID, from environment: Environment, now: Timestamp
    ) throws(Distrust) -> SignedTransaction {
        let transaction = try transaction(text, from: environment, now: now)
        // Zeros in front, which whoever wrote the message may have put there, make no other number.
        guard
            transaction.transactionID?.rawValue.drop(while: { $0 == "0" }) == asked.rawValue.drop(while: { $0 == "0" })
        else { throw Self.unknown("Apple answered with another transaction than the one asked for.") }
        return transaction
    }

    /// The transactions of a page, all of them one app's.
    func transactions(
        of page: HistoryAnswer, app: BundleID, from environment: Environment, now: Timestamp
    ) throws(Distrust) -> [SignedTransaction] {
        guard page.bundleID ?? app == app,
            page.environment ?? environment.nameInAnswers == environment.nameInAnswers
        else { throw Self.unknown("Apple's history is of another app or environment.") }
        var transactions: [SignedTransaction] = []
        for text in page.signedTransactions {
            let transaction = try transaction(text, from: environment, now: now)
            guard transaction.bundleID ?? app == app else {
                throw Self.unknown("Apple's history holds a transaction of another app.")
            }
            transactions.append(transaction)
        }
        return transactions
    }

    private static func unknown(_ detail: String) -> Distrust {
        Distrust(verdict: .hold(.unknownAnswer, detail: detail))
    }
}
