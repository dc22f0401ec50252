import Contract
import Ledger
import MemberTesting
import Processing

/// One app, one input topic, and gems.
enum Fixture {
    static let topic = "receipts.submitted"
    static let partition = TopicPartition(topic: topic, partition: 0)
    static let app: BundleID = "com.example.game"
    static let verifyReceipt = Endpoint(.verifyReceipt, .production)
    static let sandbox = Endpoint(.verifyReceipt, .sandbox)
    static let serverAPI = Endpoint(.serverAPI, .production, key: app.rawValue)
    static let apps = AppsSnapshot(
        version: 1,
        endpoints: [verifyReceipt, sandbox, serverAPI].map { EndpointLimit(endpoint: $0) },
        services: [ServiceLimit(app, calls: 300)], content: 0)

    static func origin(_ offset: Int64, partition: Int32 = 0) -> Origin {
        Origin(topic: topic, partition: partition, offset: offset)
    }

    static func record(_ offset: Int64, partition: Int32 = 0, bytes: Int = 100) -> InputRecord {
        InputRecord(
            origin: origin(offset, partition: partition), key: nil, value: [UInt8](repeating: 0, count: bytes),
            timestamp: Timestamp(milliseconds: 1000))
    }

    /// The submission of a record: one for each offset, unless an id says otherwise.
    static func submission(_ offset: Int64, id: String? = nil, user: UserID = "u1", partition: Int32 = 0) -> Submission
    {
        Submission(
            claimant: Claimant(
                submissionID: SubmissionID(id ?? "s\(offset)"), userID: user, bundleID: app, orderID: nil,
                traceparent: nil), claim: .nothing,
            evidence: .receipt(base64: "UkVDRUlQVA=="), origin: origin(offset, partition: partition),
            receivedAt: Timestamp(milliseconds: 1000))
    }

    static func purchase(_ id: String, original: String? = nil, lineItem: String? = nil) -> GrantablePurchase {
        let purchase = Purchase.sample(
            TransactionID(id), original: original.map { TransactionID($0) }, lineItem: lineItem,
            at: Timestamp(milliseconds: 500))
        let product = Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 100)])
        guard let granted = GrantablePurchase(purchase, of: product) else { fatalError("One times a hundred fits.") }
        return granted
    }

    /// The first submission is granted by it.
    static let grant = Grant(
        of: purchase("t1"), to: submission(0), by: .signedTransaction, attempts: 1,
        grantedAt: Timestamp(milliseconds: 2000))

    static func verified(_ id: String) -> Verdict { .verified([purchase(id)], by: .signedTransaction) }

    static func rendered(_ id: String) -> RenderedEvent {
        RenderedEvent(
            key: .granted(GrantReference(environment: .production, transactionID: TransactionID(id)), repeatOf: nil),
            event: Event(id: EventID("e" + id), topic: .granted, key: nil, headers: [], value: nil))
    }

    static func question(_ endpoint: Endpoint = verifyReceipt) -> Question { Question(endpoint: endpoint, content: 0) }

    /// Attempts with one cause, a minute between two.
    static func history(of cause: RetryCause, _ count: Int, before moment: Timestamp) -> AttemptHistory {
        var history = AttemptHistory()
        for number in 0..<count {
            let at = moment.advanced(by: .seconds(60 * (number - count)))
            history.add(Attempt(at: at, cause: cause.rawValue, detail: cause.sentence))
        }
        return history
    }

    static func due(
        _ offset: Int64, number: Int64 = 1, cause: WaitCause = .retrying(.endpointUnavailable, verifyReceipt),
        attempts: Int = 0, history: AttemptHistory = AttemptHistory(), doubt: Doubt? = nil, takings: Int = 1
    ) -> DueRetry {
        let submission = submission(offset)
        return DueRetry(
            lease: RetryLease(key: ClaimDigest(of: submission), number: number), submission: submission,
            attempts: attempts, cause: cause, history: history, doubt: doubt, takings: takings)
    }
}
