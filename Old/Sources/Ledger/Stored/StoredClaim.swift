import Purchases

/// What a waiting submission claims, as a row holds it: under the names of the message contract, so that a person who reads
/// the row knows them. Who claims it stands in the submission's own row.
struct StoredClaim: Codable {
    let receipt: String?
    let signedTransaction: String?
    let transactionId: String?
    let productId: String?
    let appAccountToken: String?
    let environment: String?
    let submittedAt: Int64?

    /// The text of a column.
    static func text(of submission: Submission) throws(LedgerError) -> String {
        var receipt: String?
        var signedTransaction: String?
        switch submission.evidence {
        case .receipt(let base64): receipt = base64.string
        case .signedTransaction(let text): signedTransaction = text.string
        case .transactionID: break
        }
        return try JSONText.encode(
            StoredClaim(
                receipt: receipt, signedTransaction: signedTransaction,
                transactionId: transactionID(of: submission)?.rawValue, productId: submission.productID?.rawValue,
                appAccountToken: submission.appAccountToken, environment: submission.environment?.rawValue,
                submittedAt: submission.submittedAt?.milliseconds))
    }

    /// A bare transaction id is claim and evidence in one.
    private static func transactionID(of submission: Submission) -> TransactionID? {
        guard case .transactionID(let id) = submission.evidence else { return submission.transactionID }
        return id
    }

    /// The submission that a column's text and its row tell of.
    static func submission(_ text: String, of claimant: Claimant) throws(LedgerError) -> Submission {
        let claim: StoredClaim = try JSONText.decode(text)
        let transactionID = claim.transactionId.map { TransactionID($0) }
        let evidence: Evidence
        if let receipt = claim.receipt {
            evidence = .receipt(base64: EvidenceText(receipt))
        } else if let signed = claim.signedTransaction {
            evidence = .signedTransaction(EvidenceText(signed))
        } else if let transactionID {
            evidence = .transactionID(transactionID)
        } else {
            throw .damaged("a waiting submission has no evidence")
        }
        return Submission(
            id: claimant.submissionID, userID: claimant.userID, bundleID: claimant.bundleID, evidence: evidence,
            transactionID: transactionID, productID: claim.productId.map { ProductID($0) }, orderID: claimant.orderID,
            appAccountToken: claim.appAccountToken, environment: claim.environment.flatMap(Environment.init),
            submittedAt: claim.submittedAt.map(Timestamp.init(milliseconds:)))
    }
}

/// The tries of a submission, as a row holds them.
struct StoredHistory: Codable {
    let at: Int64
    let cause: String
    let detail: String

    /// The text of a column; nil where there was no try, which is nearly always.
    static func text(of history: AttemptHistory) throws(LedgerError) -> String? {
        guard !history.attempts.isEmpty else { return nil }
        return try JSONText.encode(
            history.attempts.map { StoredHistory(at: $0.at.milliseconds, cause: $0.cause, detail: $0.detail) })
    }

    /// The tries that a column's text tells of.
    static func history(_ text: String?) throws(LedgerError) -> AttemptHistory {
        guard let text else { return AttemptHistory() }
        let stored: [StoredHistory] = try JSONText.decode(text)
        return AttemptHistory(
            stored.map { Attempt(at: Timestamp(milliseconds: $0.at), cause: $0.cause, detail: $0.detail) })
    }
}
