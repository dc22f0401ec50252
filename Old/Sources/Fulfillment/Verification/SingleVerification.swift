import AppStore
import JSONReading
import Logging
public import Purchases

/// Verifies one submission outside of a pipeline: one try, nothing granted, for people who look into a case.
public struct SingleVerification: Sendable {
    /// What some bytes are.
    public enum Reading: Sendable {
        case submission(Submission)
        /// JSON, and no submission. Says why in one sentence.
        case malformed(String)
        /// Not JSON: evidence by itself, of the kind that it looks like.
        case evidence(Evidence)
    }

    private let verifier: Verifier

    /// A verification against the configured apps.
    public init(
        apps: AppRegistry, signatures: SignatureVerifiers, endpoint: any AppStoreEndpoint, clock: any WorkerClock
    ) {
        let metrics = PipelineMetrics()
        let logger = Logger(label: "verify") { _ in SwiftLogNoOpLogHandler() }
        verifier = Verifier(
            apps: apps, signatures: signatures, endpoint: endpoint,
            apple: AppleAvailability(
                targets: CallTarget.all(for: apps), policy: AvailabilityPolicy(), mostCalls: 1, clock: clock,
                randomness: SystemRandomness(), metrics: metrics.availability, logger: logger),
            clock: clock, metrics: metrics, alerts: AlertThrottle(), logger: logger)
    }

    /// Reads bytes by the rules of the input topic.
    public static func read(_ bytes: [UInt8]) -> Reading {
        guard let first = bytes.first(where: { !StrictJSON.isSpace($0) }), first == UInt8(ascii: "{") else {
            return .evidence(evidence(in: String(decoding: bytes, as: UTF8.self)))
        }
        let record = SubmissionRecord(
            partition: TopicPartition(topic: "", partition: 0), offset: 0, timestamp: nil, key: nil, value: bytes,
            headers: [])
        return switch SubmissionReader().read(record) {
        case .submission(let read): .submission(read.submission)
        case .malformed(_, _, let rejection): .malformed(rejection.detail)
        case .unreadable(let reason): .malformed("no submission: \(reason)")
        }
    }

    /// A signed transaction has two dots, a transaction id is nothing but digits, and what is left is a receipt.
    private static func evidence(in text: String) -> Evidence {
        let trimmed = String(text.trimmingPrefix(while: \.isWhitespace).reversed())
            .trimmingPrefix(while: \.isWhitespace)
        let word = String(trimmed.reversed())
        if word.filter({ $0 == "." }).count == 2 { return .signedTransaction(EvidenceText(word)) }
        if ServerAPIRequest.isTransactionID(word) { return .transactionID(TransactionID(word)) }
        return .receipt(base64: EvidenceText(word))
    }

    /// What can be said about the evidence without asking anybody, step by step.
    public func checks(on submission: Submission, now: Timestamp) -> [EvidenceCheck] {
        switch submission.evidence {
        case .transactionID: return []
        case .signedTransaction(let text):
            return verifier.signatures.transactions.explain(text, now: now).checks.map {
                EvidenceCheck(name: $0.step.rawValue, outcome: $0.outcome.rawValue, detail: $0.detail)
            }
        case .receipt(let base64): return checks(onReceipt: base64.string)
        }
    }

    private func checks(onReceipt base64: String) -> [EvidenceCheck] {
        verifier.signatures.receipts.explain(base64: base64).checks.map {
            EvidenceCheck(name: $0.step.rawValue, outcome: $0.outcome.rawValue, detail: $0.detail)
        }
    }

    /// The verdict of one try.
    ///
    /// - Parameter receivedAt: the moment that subscriptions are held against.
    public func verdict(on submission: Submission, receivedAt: Timestamp) async -> Verdict {
        switch verifier.open(submission, receivedAt: receivedAt) {
        case .concluded(let verdict): verdict
        // Without a verdict only if the task is cancelled meanwhile.
        case .ask(let opened):
            if case .verdict(let verdict, by: _) = await verifier.verify(opened, isRetry: false, asker: .patient) {
                verdict
            } else {
                .retry(.unreachable, notBefore: nil, patience: .unlimited)
            }
        }
    }
}
