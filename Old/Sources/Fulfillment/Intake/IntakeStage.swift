import Ledger
import Logging
import Metrics
import Purchases

/// Serves the source: answers changes of the assignment whenever they come, takes records as there is room for them,
/// reads them, and sends each on its way.
///
/// It waits for nothing but the source, so that a rebalance is answered at once whatever else is away or full.
struct IntakeStage: Sendable {
    let parts: PipelineParts
    let source: any SubmissionSource
    private let reader = SubmissionReader()

    init(parts: PipelineParts, source: any SubmissionSource) {
        self.parts = parts
        self.source = source
    }

    /// What ended a wait for the source.
    private enum Turn {
        /// Nil: it is closed, or the task is cancelled.
        case source(SourceEvent?)
        /// What is to be asked of it has changed.
        case demand
    }

    /// Runs until the source is closed or the task is cancelled. Once the worker stops nothing more is read, and the
    /// partitions are still given up when the group wants them.
    func run() async throws {
        defer { parts.read.finish() }
        while true {
            let isStopping = parts.stopping.isRaised
            if isStopping { parts.read.finish() }
            switch try await turn(room: isStopping ? nil : parts.window.room, isStopping: isStopping) {
            case .demand: break
            case .source(nil): return
            case .source(.assigned(let partitions, let epoch)): assigned(partitions, epoch)
            case .source(.revoking(let partitions, let lost, let complete)): complete(revoked(partitions, lost: lost))
            case .source(.records(let records)): take(records)
            }
        }
    }

    /// Asks for records if there is room, and for changes of the assignment in any case.
    private func turn(room: (count: Int, bytes: Int)?, isStopping: Bool) async throws -> Turn {
        try await withThrowingTaskGroup(of: Turn.self) { group in
            group.addTask {
                .source(
                    try await source.next(
                        maxRecords: min(room?.count ?? 0, PipelineConfiguration.maxReadCount),
                        maxBytes: min(room?.bytes ?? 0, PipelineConfiguration.maxReadBytes)))
            }
            if !isStopping {
                group.addTask {
                    await parts.stopping.wait()
                    return .demand
                }
                if room == nil {
                    group.addTask {
                        await parts.window.waitForRoom()
                        return .demand
                    }
                }
            }
            var first: Turn?
            while let turn = try await group.next() {
                // Both may have something by the time the others are cancelled; the event must not be lost.
                if case .source(.some) = turn { first = turn } else { first = first ?? turn }
                group.cancelAll()
            }
            return first ?? .source(nil)
        }
    }

    private func assigned(_ partitions: [TopicPartition], _ epoch: UInt64) {
        let count = parts.progress.withProgress { progress in
            for partition in partitions { progress.assigned(partition, epoch: epoch) }
            return progress.partitions.count
        }
        parts.metrics.partitions.record(count)
        parts.logger.info("Partitions assigned", metadata: ["partitions": "\(partitions.map(\.partition))"])
    }

    private func revoked(_ partitions: [TopicPartition], lost: Bool) -> [TopicPartition: Int64] {
        let (offsets, count) = parts.progress.withProgress { progress in
            var offsets: [TopicPartition: Int64] = [:]
            for partition in partitions { offsets[partition] = progress.revoked(partition) }
            return (offsets, progress.partitions.count)
        }
        parts.metrics.partitions.record(count)
        parts.logger.info(
            "Partitions revoked", metadata: ["partitions": "\(partitions.map(\.partition))", "lost": "\(lost)"])
        return lost ? [:] : offsets
    }

    private func take(_ records: [SubmissionRecord]) {
        parts.metrics.read.increment(by: records.count)
        let now = parts.clock.now()
        let elapsed = parts.clock.elapsed()
        var submissions: [AdmittedSubmission] = []
        submissions.reserveCapacity(records.count)
        var settled: [Settled] = []
        let admissions = parts.progress.withProgress { progress in
            records.map { progress.admit($0.offset, of: $0.partition, at: elapsed) }
        }
        for (record, admission) in zip(records, admissions) {
            // Of a partition that went meanwhile: its next owner reads it.
            guard let admission else { continue }
            let origin = record.origin
            let weight = record.weight
            if admission.wentBack { noteWentBack(origin) }
            parts.window.admit(bytes: weight)
            // A producer's clock may have written it, and one that is ahead must not make a subscription seem over.
            let receivedAt = min(record.timestamp ?? now, now)
            switch reader.read(record) {
            case .submission(let read):
                submissions.append(
                    AdmittedSubmission(
                        read: read, origin: origin, receivedAt: receivedAt, ticket: admission.ticket, weight: weight))
            case .malformed(let claimant, let fingerprint, let rejection):
                let settlement = Settlement(
                    claimant: claimant, fingerprint: fingerprint, origin: origin, receivedAt: receivedAt,
                    attempts: 0, decision: .fail(rejection))
                settled.append(Settled(ticket: admission.ticket, weight: weight, fate: .submission(settlement)))
            case .unreadable(let reason):
                note(origin, reason)
                let quarantine = quarantine(record, reason, now)
                settled.append(Settled(ticket: admission.ticket, weight: weight, fate: .quarantine(quarantine)))
            }
        }
        noteAges(of: records, now)
        parts.settled.put(settled)
        parts.read.put(submissions)
        parts.reportHeld()
    }

    /// Once for each partition: the records of one are in order, so the last is the newest.
    private func noteAges(of records: [SubmissionRecord], _ now: Timestamp) {
        var newest: [TopicPartition: Timestamp] = [:]
        for (index, record) in records.enumerated() {
            // Records of one partition come together, so most are followed by a newer one.
            guard index + 1 == records.count || records[index + 1].partition != record.partition else { continue }
            newest[record.partition] = record.timestamp
        }
        let ages = newest.mapValues { max(.zero, now.since($0)) }
        parts.progress.withProgress { progress in
            for (partition, age) in ages { progress.noteAge(age, of: partition) }
        }
    }

    private func noteWentBack(_ origin: Origin) {
        parts.metrics.wentBack.increment()
        guard let count = parts.alerts.count("wentBack.\(origin.topic)", at: parts.clock.elapsed()) else { return }
        parts.logger.warning(
            "Offsets went back: the topic was made anew, lost its end, or is read again; its records count as new",
            metadata: [
                "topic": "\(origin.topic)", "partition": "\(origin.partition)", "offset": "\(origin.offset)",
                "times": "\(count)",
            ])
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
}
