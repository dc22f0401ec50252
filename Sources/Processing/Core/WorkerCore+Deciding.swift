import Contract
import Ledger
import Scheduling

/// The step from a verdict to a decision: final, to be repeated, or a row of `retries`.
extension WorkerCore {
    /// How long a submission waits for room in `retries` before it looks again.
    private static let roomPause: Duration = .seconds(1)

    /// Applies the retry policy to a verdict.
    mutating func conclude(_ token: SubmissionToken, _ verdict: Verdict, into actions: inout Actions) {
        let place = flights[token].gate
        let endpoint = flights[token].question?.endpoint ?? Self.localEndpoint(flights[token].submission)
        let isTroubled = place >= 0 && gates[place].isTroubled
        let step = RetryPolicy.step(
            after: verdict, &flights[token].attempts, endpoint: endpoint, isTroubled: isTroubled,
            doubtLimit: settings.doubtLimit, at: now, wall: wall, using: &generator)
        switch step {
        case .decide(let content): decide(token, content)
        case .again(let pause):
            delay(token, flights[token].question == nil ? .rechecking : .repeating, until: now + pause)
        case .wait(let entry): waitInRetries(token, entry, into: &actions)
        }
    }

    /// A row that nobody needs to be asked about still needs an endpoint to be due at: the app's own.
    private static func localEndpoint(_ submission: Submission?) -> Endpoint {
        Endpoint(.serverAPI, .production, key: submission?.bundleID.rawValue ?? "")
    }

    /// Sends a submission to `retries`, if these have room for it. Else it waits here, and in the end reading stops.
    ///
    /// A receipt's signature is looked at on its way there, because rows that Apple has signed are taken first.
    /// - Parameter mayDecide: whether the signature is enough where the app's rules say that.
    mutating func waitInRetries(
        _ token: SubmissionToken, _ entry: RetryEntry, mayDecide: Bool = false, into actions: inout Actions
    ) {
        if flights[token].isSigned == nil, flights[token].isRecord || mayDecide,
            flights[token].question?.endpoint.service == .verifyReceipt, let submission = flights[token].submission
        {
            flights[token].postponed = entry
            return check(token, .signature(submission, mayDecide: mayDecide), into: &actions)
        }
        var entry = entry
        entry.isSigned = flights[token].isSigned ?? false
        if flights[token].isRecord, !retryBytes.take(flights[token].bytes) {
            flights[token].postponed = entry
            return delay(token, .awaitingRoom, until: now + Self.roomPause)
        }
        sampleSoon()
        decide(token, .retry(entry))
    }

    /// Apple's signature was looked at: it decides, or says when the row of `retries` is taken.
    mutating func signatureChecked(
        _ token: SubmissionToken, _ holds: Bool, _ verdict: Verdict?, into actions: inout Actions
    ) {
        guard let entry = flights[token].postponed else { return orphan(token) }
        flights[token].postponed = nil
        flights[token].isSigned = holds
        guard let verdict else { return waitInRetries(token, entry, into: &actions) }
        conclude(token, verdict, into: &actions)
    }

    /// A submission is decided: it waits for the next batch.
    mutating func decide(_ token: SubmissionToken, _ content: Decision.Content) {
        guard let claimant = flights[token].claimant else { return orphan(token) }
        move(token, to: .writing)
        flights[token].content = content
        if case .grant(let purchases, _) = content {
            limit.take(purchases: purchases.count - flights[token].purchases)
            flights[token].purchases = purchases.count
        }
        batcher.add(token, rows: content.batchRows, BatchKeys(submission: claimant, content))
    }
}
