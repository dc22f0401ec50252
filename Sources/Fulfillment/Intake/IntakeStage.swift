import Ledger
import Logging
import Metrics
import Purchases

/// Takes records from the source as there is room for them, reads them, and sends each on its way.
struct IntakeStage: Sendable {
    let parts: PipelineParts
    let source: any SubmissionSource
    let ledger: any LedgerStore
    private let reader = SubmissionReader()

    init(parts: PipelineParts, source: any SubmissionSource, ledger: any LedgerStore) {
        self.parts = parts
        self.source = source
        self.ledger = ledger
    }

    /// Runs until the worker stops or the source is closed.
    func run() async throws {
        while !parts.stopping.isRaised, let event = try await nextEvent() {
            switch event {
            case .assigned(let partitions): assigned(partitions)
            case .revoking(let partitions, let lost, let complete): complete(revoked(partitions, lost: lost))
            case .records(let records): try await take(records)
            }
        }
    }

    /// Asks for records if there is room. Changes of the assignment come through even while there is none.
    private func nextEvent() async throws -> SourceEvent? {
        while true {
            if let room = parts.window.room {
                return try await untilStopping {
                    try await source.next(
                        maxRecords: min(room.count, PipelineConfiguration.maxReadCount),
                        maxBytes: min(room.bytes, PipelineConfiguration.maxReadBytes))
                }
            }
            if let event = try await eventBeforeRoom() { return event }
            if parts.stopping.isRaised || Task.isCancelled { return nil }
        }
    }

    /// - Returns: a change of the assignment; nil when there is room again, or the worker stops.
    private func eventBeforeRoom() async throws -> SourceEvent? {
        try await withThrowingTaskGroup(of: SourceEvent?.self) { group in
            group.addTask { try await source.next(maxRecords: 0, maxBytes: 0) }
            group.addTask {
                await parts.window.waitForRoom()
                return nil
            }
            group.addTask {
                await parts.stopping.wait()
                return nil
            }
            // Both may have something by the time the others are cancelled; the event must not be lost.
            var found: SourceEvent?
            while let event = try await group.next() {
                found = found ?? event
                group.cancelAll()
            }
            return found
        }
    }

    private func untilStopping(
        _ operation: @escaping @Sendable () async throws -> SourceEvent?
    ) async throws -> SourceEvent? {
        try await withThrowingTaskGroup(of: SourceEvent?.self) { group in
            group.addTask(operation: operation)
            group.addTask {
                await parts.stopping.wait()
                return nil
            }
            var found: SourceEvent?
            while let event = try await group.next() {
                found = found ?? event
                group.cancelAll()
            }
            return found
        }
    }

    private func assigned(_ partitions: [TopicPartition]) {
        parts.progress.withProgress { progress in
            for partition in partitions { progress.assigned(partition) }
        }
        parts.logger.info("Partitions assigned", metadata: ["partitions": "\(partitions.map(\.partition))"])
    }

    private func revoked(_ partitions: [TopicPartition], lost: Bool) -> [TopicPartition: Int64] {
        let offsets = parts.progress.withProgress { progress in
            var offsets: [TopicPartition: Int64] = [:]
            for partition in partitions { offsets[partition] = progress.revoked(partition) }
            return offsets
        }
        parts.logger.info(
            "Partitions revoked", metadata: ["partitions": "\(partitions.map(\.partition))", "lost": "\(lost)"])
        return lost ? [:] : offsets
    }

    private func take(_ records: [SubmissionRecord]) async throws {
        parts.metrics.read.increment(by: records.count)
        let now = parts.clock.now()
        var submissions: [AdmittedSubmission] = []
        var settled: [Settled] = []
        for record in records {
            guard let ticket = parts.progress.withProgress({ $0.admit(record.offset, of: record.partition) }) else {
                // Of a partition that went meanwhile: its next owner reads it.
                continue
            }
            parts.window.admit(bytes: record.weight)
            // A producer's clock may have written it, and one that is ahead must not make a subscription seem over.
            let receivedAt = min(record.timestamp ?? now, now)
            switch reader.read(record) {
            case .submission(let read):
                submissions.append(
                    AdmittedSubmission(
                        read: read, origin: record.origin, receivedAt: receivedAt, ticket: ticket,
                        weight: record.weight))
            case .malformed(let claimant, let fingerprint, let rejection):
                let settlement = Settlement(
                    claimant: claimant, fingerprint: fingerprint, origin: record.origin, receivedAt: receivedAt,
                    attempts: 0, decision: .fail(rejection))
                settled.append(Settled(ticket: ticket, weight: record.weight, fate: .submission(settlement)))
            case .unreadable(let reason):
                note(record.origin, reason)
                let quarantine = quarantine(record, reason, now)
                settled.append(Settled(ticket: ticket, weight: record.weight, fate: .quarantine(quarantine)))
            }
        }
        let (new, repeated) = try await sortOut(submissions)
        parts.settled.put(settled + repeated)
        parts.admitted.put(new)
        parts.reportHeld()
    }

    private func note(_ origin: Origin, _ reason: String) {
        guard let count = parts.alerts.count("unreadable.\(reason)", at: parts.clock.elapsed()) else { return }
        parts.logger.warning(
            "Records cannot be read as submissions and go to the quarantine topic",
            metadata: [
                "reason": "\(reason)", "partition": "\(origin.partition)", "offset": "\(origin.offset)",
                "records": "\(count)",
            ])
    }

    private func quarantine(_ record: SubmissionRecord, _ reason: String, _ now: Timestamp) -> Quarantine {
        Quarantine(
            origin: record.origin, reason: reason,
            event: QuarantinedEvent.event(
                from: record.origin, key: record.key, value: record.value, headers: record.headers, reason: reason,
                at: now))
    }

    /// Separates what is new from what has its outcome in the ledger: a replay costs one query, not a call each.
    private func sortOut(
        _ submissions: [AdmittedSubmission]
    ) async throws -> (new: [AdmittedSubmission], repeated: [Settled]) {
        guard !submissions.isEmpty else { return ([], []) }
        let recorded = try await recorded(submissions.map(\.read.key))
        guard !recorded.isEmpty else { return (submissions, []) }
        var new: [AdmittedSubmission] = []
        var repeated: [Settled] = []
        for submission in submissions {
            if let known = recorded[submission.read.key], known.outcome.isFinal,
                known.fingerprint == submission.read.fingerprint
            {
                repeated.append(submission.settled(.answerAgain, attempts: 0))
            } else {
                new.append(submission)
            }
        }
        parts.metrics.repeated.increment(by: repeated.count)
        return (new, repeated)
    }

    private func recorded(_ keys: [SubmissionKey]) async throws -> [SubmissionKey: RecordedSubmission] {
        var failures = 0
        while true {
            do throws(LedgerError) {
                return try await ledger.recorded(keys)
            } catch {
                guard case .unavailable(let cause) = error else { throw error }
                failures += 1
                parts.metrics.ledgerUnavailable.increment()
                parts.logger.warning("The ledger is unavailable; intake waits", metadata: ["cause": "\(cause)"])
                try await parts.pause(afterFailures: failures)
            }
        }
    }
}
