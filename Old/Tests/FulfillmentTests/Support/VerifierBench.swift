import AppStore
import Logging
import Purchases

@testable import Fulfillment

/// A verifier, one receipt that Apple has to be asked about, and room for one call at once.
struct VerifierBench {
    let appStore = HeldAppStore()
    let apple: AppleAvailability
    let verifier: Verifier
    let question: ReceiptQuestion
    private let submission: Submission
    let opened: Verifier.Case
    let transactionID: TransactionID

    private struct NothingToAsk: Error {}

    init() throws {
        let issuer = try ScriptedAppStore()
        let (base64, id) = try issuer.receipt()
        let registered = RegisteredApp(app: App(bundleID: "com.example.game"), sharedSecrets: [])
        let apps = AppRegistry([registered])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        apple = AppleAvailability(
            targets: CallTarget.all(for: apps), policy: AvailabilityPolicy(), mostCalls: 1, clock: FastClock(),
            randomness: FixedRandomness(), metrics: AvailabilityMetrics(), logger: logger)
        verifier = Verifier(
            apps: apps, signatures: SignatureVerifiers(roots: issuer.roots), endpoint: appStore, apple: apple,
            clock: FastClock(), metrics: PipelineMetrics(), alerts: AlertThrottle(), logger: logger)
        submission = Submission(
            id: "s", userID: "u", bundleID: "com.example.game", evidence: .receipt(base64: EvidenceText(base64)))
        guard case .ask(let opened) = verifier.open(submission, receivedAt: Timestamp(milliseconds: 1_795_255_200_000))
        else { throw NothingToAsk() }
        self.opened = opened
        let text = try ReceiptText(EvidenceText(base64))
        question = ReceiptQuestion(text, secret: nil, mark: ReceiptMark(of: try AppReceipt(der: text.bytes)))
        transactionID = id
    }

    /// A try of the receipt.
    func makeTry() -> VerifyReceiptTry {
        VerifyReceiptTry(question, of: opened, by: verifier, isRetry: false, asker: .topic)
    }

    /// The submission as it comes from intake.
    var admitted: AdmittedSubmission {
        AdmittedSubmission(
            read: ReadSubmission(
                submission: submission,
                claimant: Claimant(submissionID: "s", userID: "u", bundleID: "com.example.game"), fingerprint: "f"),
            origin: Origin(topic: "t", partition: 0, offset: 0), receivedAt: opened.receivedAt, ticket: nil, weight: 0)
    }

    /// The same kind of answer, about a receipt of a year earlier and another purchase.
    func isOfAnotherReceipt(_ transaction: Int) -> String {
        """
        {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.game",
        "receipt_creation_date_ms":"1763719200000","in_app":[{
        "quantity":"1","product_id":"gems","transaction_id":"\(transaction)",
        "original_transaction_id":"\(transaction)","purchase_date_ms":"1763719100000"}]}}
        """
    }

    /// An answer of Apple's that the receipt's purchase was made.
    var isAuthentic: String {
        """
        {"status":0,"environment":"Sandbox","receipt":{"bundle_id":"com.example.game","in_app":[{
        "quantity":"1","product_id":"gems","transaction_id":"\(transactionID)",
        "original_transaction_id":"\(transactionID)","purchase_date_ms":"1795255000000"}]}}
        """
    }
}
