import Ledger
import Purchases

/// What the model does about what waits, for workers and for people.
extension NaiveLedger {
    /// Of what is due, the longest due first: as many as the limit says, and what is due since the same moment as the last.
    /// Which of several that are due at once come first is nobody's promise.
    static func due<Key>(_ places: [(key: Key, place: Place)], limit: Int, now: Timestamp) -> [(
        key: Key, dueAt: Timestamp
    )] {
        let due = places.filter { $0.place.dueAt <= now }.map { (key: $0.key, dueAt: $0.place.dueAt) }
            .sorted { $0.dueAt < $1.dueAt }
        guard limit < due.count else { return due }
        return due.filter { $0.dueAt <= due[limit - 1].dueAt }
    }

    var waiting: [(key: SubmissionKey, place: Place)] {
        submissions.compactMap { key, submission in submission.place.map { (key, $0) } }
    }

    mutating func keepDue(_ worker: WorkerID, _ keys: [SubmissionKey], until end: Timestamp) {
        for key in keys where submissions[key]?.place?.worker == worker { submissions[key]?.place?.dueAt = end }
    }

    mutating func giveBackDue(_ worker: WorkerID, now: Timestamp) {
        for (key, place) in waiting where place.worker == worker {
            submissions[key]?.place = Place(dueAt: now, worker: nil)
        }
    }

    mutating func retry(_ key: SubmissionKey, now: Timestamp) -> Recall {
        guard let submission = submissions[key] else { return .notFound }
        guard submission.cause != nil else { return .settled(submission.outcome) }
        guard let place = submission.place else { return .notKept }
        if let worker = place.worker { return .underWay(worker) }
        submissions[key]?.place?.dueAt = now
        return .due
    }

    /// All at once: as fast as nobody would.
    mutating func retryAll(_ cause: WaitingCause, _ bundleID: BundleID?, now: Timestamp) -> Int {
        var count = 0
        for (key, place) in waiting where place.worker == nil && submissions[key]?.cause == cause {
            guard bundleID == nil || bundleID == key.bundleID else { continue }
            submissions[key]?.place?.dueAt = min(place.dueAt, now)
            count += 1
        }
        return count
    }

    mutating func abandon(_ key: SubmissionKey, now: Timestamp) -> Abandonment {
        guard let submission = submissions[key] else { return .notFound }
        guard submission.cause != nil else { return .settled(submission.outcome) }
        let settlement = Settlement(
            claimant: submission.claimant, fingerprint: submission.fingerprint,
            origin: Origin(topic: "", partition: 0, offset: 0), receivedAt: now, attempts: submission.attempts,
            decision: .fail(Rejection(.abandonedByOperator, "")))
        guard case .failed(let event, _) = settle([settlement], now: now).outcomes[0] else {
            return .settled(submissions[key]?.outcome ?? .granted)
        }
        return .abandoned(event)
    }
}
