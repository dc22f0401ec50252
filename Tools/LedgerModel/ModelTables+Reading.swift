package import Contract
package import Ledger

/// The rows as a judge reads them.
extension ModelTables {
    package var allGrants: [Grant] { grantRows.map(\.grant) }

    package var allAnswers: [Answer] { answers.values.sorted { $0.sequence < $1.sequence }.map(\.answer) }

    /// Submissions in `retries`, in the order in which they came.
    package var waiting: [Submission] { retries.rows.sorted { $0.sequence < $1.sequence }.map(\.submission) }

    package var hasWaiting: Bool { !retries.isEmpty }

    /// Submissions that are held because their checks ended workers.
    package var endingWorkers: [Submission] {
        retries.rows.filter { $0.entry.cause == .held(.endsWorkers) }.sorted { $0.sequence < $1.sequence }
            .map(\.submission)
    }

    package var owedCount: Int { outbox.count }

    /// Submissions that are held because a worker's apps file lacked something.
    package var heldForConfiguration: [Submission] {
        let causes: [WaitCause] = [.held(.appNotConfigured), .held(.productNotConfigured)]
        return retries.rows.filter { causes.contains($0.entry.cause) }.sorted { $0.sequence < $1.sequence }
            .map(\.submission)
    }

    package func row(of reference: GrantReference) -> Grant? { grant(reference) }

    package func row(of key: GrantKey) -> Grant? {
        holders([HolderQuestion(GrantReference(environment: key.environment, transactionID: ""), key)])
            .first?.grant
    }

    package func rows(of key: SubmissionKey) -> [Grant] { ownGrants(of: key) }

    package func answer(_ key: SubmissionKey) -> Answer? { answers[key]?.answer }

    package func waits(_ key: RetryKey) -> Bool { retries.contains(key) }

    package func isOwed(_ key: OutboxKey) -> Bool { outbox[key] != nil }

    /// Whether a row of the outbox owes the stub of a record at this place.
    package func owesStub(of origin: Origin) -> Bool {
        outbox.keys.contains { if case .quarantined(origin, _) = $0 { true } else { false } }
    }

    /// Whether a row of the outbox owes a grant's event, or its call.
    package func isOwed(_ reference: GrantReference) -> Bool {
        outbox.keys.contains { if case .granted(reference, _) = $0 { true } else { false } }
    }

    /// The record that a worker has marked as being checked.
    package func marked(by owner: String, of partition: TopicPartition) -> Int64? {
        partitions[partition].flatMap { $0.owner == owner ? $0.marked : nil }
    }

    package func owns(_ ownership: PartitionOwnership) -> Bool {
        partitions[ownership.partition]?.generation == ownership.generation
    }

    package func knows(_ partition: TopicPartition) -> Bool { !(partitions[partition]?.isRefused ?? true) }

    package func next(of partition: TopicPartition) -> Int64? { partitions[partition]?.next }

    /// When the first row of `retries` or the outbox is due, in milliseconds of the ledger's clock.
    package var nextDue: Int64? {
        var first: Int64?
        for index in retries.rows.indices { first = min(first ?? .max, retries.rows[index].dueAt) }
        for row in outbox.values { first = min(first ?? row.dueAt, row.dueAt) }
        return first
    }

    /// Rows and bytes of `retries`, by app and by endpoint.
    var sizes: (apps: [LedgerMeasure.App], waiting: [LedgerMeasure.Waiting]) {
        var apps: [BundleID: (rows: Int, bytes: Int64)] = [:]
        var waiting: [Endpoint?: (rows: Int, oldest: Timestamp)] = [:]
        for row in retries.rows {
            let app = apps[row.submission.bundleID] ?? (0, 0)
            apps[row.submission.bundleID] = (app.rows + 1, app.bytes + Int64(row.submission.retainedBytes))
            let received = row.submission.receivedAt
            let before = waiting[row.entry.cause.endpoint] ?? (0, received)
            waiting[row.entry.cause.endpoint] = (before.rows + 1, min(before.oldest, received))
        }
        return (
            apps.map { LedgerMeasure.App(bundleID: $0, rows: $1.rows, bytes: $1.bytes) }
                .sorted { $0.bundleID < $1.bundleID },
            waiting.map { LedgerMeasure.Waiting(endpoint: $0, rows: $1.rows, oldest: $1.oldest) }
                .sorted { ($0.endpoint?.text ?? "") < ($1.endpoint?.text ?? "") }
        )
    }

    var held: [LedgerMeasure.Held] {
        var groups: [HeldGroup: (details: [String: Int], oldest: Timestamp)] = [:]
        for row in retries.rows {
            guard case .held(let cause) = row.entry.cause else { continue }
            let received = row.submission.receivedAt
            var group = groups[HeldGroup(bundleID: row.submission.bundleID, cause: cause)] ?? ([:], received)
            group.details[row.entry.detail, default: 0] += 1
            group.oldest = min(group.oldest, received)
            groups[HeldGroup(bundleID: row.submission.bundleID, cause: cause)] = group
        }
        return groups.map { LedgerMeasure.Held($0.bundleID, $0.cause, details: $1.details, oldest: $1.oldest) }
            .sorted {
                ($0.group.bundleID, $0.group.cause.rawValue) < ($1.group.bundleID, $1.group.cause.rawValue)
            }
    }
}
