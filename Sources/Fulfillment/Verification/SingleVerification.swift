import Logging
public import Purchases

/// Verifies one submission outside of a pipeline: one try, nothing granted, for people who look into a case.
public struct SingleVerification: Sendable {
    /// What some bytes are.
    public enum Reading: Sendable {
        case submission(Submission)
        /// JSON, and no submission. Says why in one sentence.
        case malformed(String)
        case noJSON
    }

    private let verifier: Verifier

    /// A verification against the configured apps.
    public init(apps: AppRegistry, endpoint: any AppStoreEndpoint, clock: any WorkerClock) {
        verifier = Verifier(
            apps: apps, endpoint: endpoint, clock: clock, metrics: PipelineMetrics(), alerts: AlertThrottle(),
            logger: Logger(label: "verify") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Reads bytes by the rules of the input topic.
    public static func read(_ bytes: [UInt8]) -> Reading {
        guard let first = bytes.first(where: { !JSONCursor.isSpace($0) }), first == UInt8(ascii: "{") else {
            return .noJSON
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

    /// The verdict of one try.
    ///
    /// - Parameter receivedAt: the moment that subscriptions are held against.
    public func verdict(on submission: Submission, receivedAt: Timestamp) async -> Verdict {
        switch verifier.open(submission, receivedAt: receivedAt) {
        case .concluded(let verdict): verdict
        case .ask(let opened): await verifier.verify(opened)
        }
    }
}
