import Contract
import Ledger
import Synchronization

/// A ledger that has two apps' submissions in every state, and notes what was asked of it.
final class FixedLedger: LedgerOperator, Sendable {
    static let id = "0b7d9a52-0000-4000-8000-000000000001"
    static let time = Timestamp(milliseconds: 1_700_000_000_000)

    private let asked = Mutex<[String]>([])

    var questions: [String] { asked.withLock { $0 } }

    private func note(_ question: String) { asked.withLock { $0.append(question) } }

    /// Makes a ledger the first time.
    func migrate() -> (from: Int, to: Int) {
        note("migrate")
        return questions == ["migrate"] ? (0, 2) : (2, 2)
    }

    func identity() throws(LedgerError) -> String { Self.id }

    func submission(_ key: SubmissionKey) throws(LedgerError) -> SubmissionRecord {
        note("submission \(key.bundleID)/\(key.submissionID)")
        guard key.bundleID == "com.example.game" else { return Self.record() }
        switch key.submissionID {
        case "granted": return Self.record(grants: [Self.grant()])
        case "failed": return Self.record(answer: .failed(Self.failure))
        case "retrying": return Self.record(waiting: [Self.waiting])
        default: return Self.record()
        }
    }

    func submissions(_ query: SubmissionQuery) throws(LedgerError) -> [SubmissionRow] {
        note("submissions \(query)")
        guard query.userID != "nobody" else { return [] }
        return [
            SubmissionRow(
                sequence: 7, state: query.state, claimant: Self.claimant("s-7"), origin: Self.origin, at: Self.time,
                cause: "no_answer", transactionID: "1000007", attempts: 3, dueAt: Self.time)
        ]
    }

    func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow] {
        note("grants \(query)")
        return query.userID == "nobody" ? [] : [GrantRow(sequence: 9, grant: Self.grant())]
    }

    func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] { [] }

    func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction] {
        guard key?.submissionID == "retrying" else { return [] }
        return [
            OperatorAction(
                kind: .retry, note: OperatorNote(actor: "anna", reason: "Apple is well again", at: Self.time),
                submission: key)
        ]
    }

    func accept(ledger id: String, _ note: OperatorNote) throws(LedgerError) -> Bool {
        self.note("accept \(id) by \(note.actor): \(note.reason) at \(note.at)")
        return id == Self.id
    }

    func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int { 0 }

    func abandon(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> [Outcome] { [] }
}

extension FixedLedger {
    static let origin = Origin(topic: "receipts.submitted", partition: 5, offset: 173)

    static func claimant(_ id: SubmissionID, user: UserID = "u-1") -> Claimant {
        Claimant(submissionID: id, userID: user, bundleID: "com.example.game", orderID: "o-1")
    }

    static func record(
        grants: [Grant] = [], answer: Answer? = nil, waiting: [RetryRow] = [], owed: [OutboxRow] = []
    ) -> SubmissionRecord {
        SubmissionRecord(
            grants: grants.map { GrantRow(sequence: 1, grant: $0) }, answer: answer, waiting: waiting, owed: owed)
    }

    static func grant(_ transactionID: TransactionID = "1000001") -> Grant {
        Grant(
            key: GrantKey(environment: .production, name: "t:\(transactionID)"), transactionID: transactionID,
            originalTransactionID: transactionID, webOrderLineItemID: nil,
            product: Product(
                id: "com.example.game.gems100", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
            quantity: 2, purchasedAt: time, expiresAt: nil, ownership: .purchased, payment: nil, offer: nil,
            verifiedBy: "signedTransaction", claimant: claimant("granted"), origin: origin, receivedAt: time,
            grantedAt: time, attempts: 1, format: .current)
    }

    static var failure: Failure {
        Failure(
            claimant: claimant("failed"), reason: "unknown_product", detail: "The catalogue has no such product.",
            transactionID: "1000002", productID: "p", failedAt: time, attempts: 2, digest: ClaimDigest(of: submission),
            origin: origin, format: .current)
    }

    static var submission: Submission {
        Submission(
            claimant: claimant("retrying"), claim: Claim(transactionID: "1000003"),
            evidence: .receipt(base64: "canary"), origin: origin, receivedAt: time)
    }

    static var waiting: RetryRow {
        let attempt = Attempt(at: time, cause: "no_answer", detail: "HTTP 502.")
        return RetryRow(
            key: ClaimDigest(of: submission), submission: submission,
            entry: RetryEntry(
                cause: .retrying(.noAnswer, Endpoint(.verifyReceipt, .production)), detail: "HTTP 502.", delay: 15_000,
                history: AttemptHistory([attempt])),
            attempts: 1, dueAt: time.advanced(by: .seconds(15)), isLeased: false)
    }

    static func owed(_ step: OutboxStep) -> OutboxRow {
        OutboxRow(
            key: .granted(grant().reference, repeatOf: nil), step: step,
            target: step == .call ? .service("com.example.game") : .topic(.granted), dueAt: time, isLeased: false,
            attempts: 4)
    }
}
