import Contract
import Ledger
import Processing

/// The values of one worker's earlier lines that its later ones refer to.
final class TraceMemory {
    var submissions: [SubmissionToken: TraceSubject] = [:]
    var events: [PublishToken: (subject: TraceSubject, event: Event)] = [:]
    var calls: [OutboxToken: TraceSubject] = [:]
    var batches: [BatchID: [Decision]] = [:]
    var requests: [RequestID: LedgerRequest.Call] = [:]
    var partitions: [AssignmentID: Int32] = [:]
    var leases: [RetryKey: TraceSubject] = [:]
    var lookUps: [GrantLookup: TraceSubject] = [:]
    /// Whose a row of the outbox is.
    var keys: [OutboxKey: TraceSubject] = [:]
    var stopOfReading: CoreStatus.ReadingStop?
    /// In flight after the latest turn.
    var followed: [FollowedSubmission] = []

    func subject(_ token: SubmissionToken) -> TraceSubject { submissions[token] ?? TraceSubject(token: token) }

    func know(_ token: SubmissionToken, as subject: TraceSubject) -> TraceSubject {
        var subject = subject
        subject.token = token
        submissions[token] = subject
        return subject
    }

    /// Whether something with a submission's id is in flight.
    func holds(_ id: String) -> Bool { submissions.values.contains { $0.id == id } }

    /// A submission's states in a worker; nil for an unknown one.
    func state(of subject: TraceSubject, in life: Life) -> String? {
        guard subject.token != nil || subject.origin != nil else { return nil }
        let states = followed.filter { one in
            if let token = subject.token { return one.token == token }
            return one.origin == subject.origin || submissions[one.token]?.origin == subject.origin
        }
        guard states.isEmpty else { return states.map(\.state).joined(separator: " + ") }
        guard let origin = subject.origin else { return "left" }
        return life.core.isComplete(origin) ? "complete" : "left"
    }

    /// Submissions that are not in flight any more need no memory.
    func forgetGone() {
        let tokens = Set(followed.map(\.token))
        submissions = submissions.filter { tokens.contains($0.key) }
        lookUps = lookUps.filter { lookUp in lookUp.value.token.map(tokens.contains) ?? false }
    }
}
