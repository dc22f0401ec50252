import AppStoreSimulator
import Foundation
import Ledger
import Purchases
import SystemTesting

/// One run, from an empty ledger to the verdict: everything starts, submissions and faults go on side by side, faults end,
/// all drains, workers stop, and the judge looks at what is left.
struct ChaosRun: Sendable {
    /// What a run is asked for.
    struct Options: Sendable {
        var seed: UInt64
        /// In which submissions come and faults begin.
        var length: Duration
        /// Submissions per second.
        var rate: Double
        var workers: Int
        /// Variables of the workers.
        var environment: [String: String]

        var submissions: Int { Int(rate * (length / .seconds(1))) }
    }

    /// How long everything may take to be settled and published after the last fault and the last submission.
    ///
    /// Generous, because a verdict must not hang on how busy the machine is; and what waits in the ledger comes due when its
    /// backoff is over.
    static let drainLimit = Duration.seconds(300)
    /// Records of a partition that are safely below the broker's limit of 5 MiB.
    private static let recordsPerPartition = 1000

    let options: Options
    let folder: URL

    /// Plays it and tells what it came to.
    func play() async throws -> Summary {
        let schedule = Schedule(
            Schedule.Options(
                seed: options.seed, length: Int(options.length / .milliseconds(1)), workers: options.workers))
        let counts = "\(options.submissions) submissions, \(schedule.faults.count) faults"
        say("seed \(options.seed): \(counts) in \(options.length.text)")
        say(schedule.text + "\n")
        var stageOptions = ChaosStage.Options()
        stageOptions.workers = options.workers
        stageOptions.partitions = max(24, options.submissions / Self.recordsPerPartition + 1)
        stageOptions.seed = options.seed
        stageOptions.environment = options.environment
        let stage = try await ChaosStage.start(stageOptions, in: folder)
        let interruption = Interruption(ending: stage.fleet)
        defer { withExtendedLifetime(interruption) {} }
        let submitter = try Submitter(stage.broker.client)
        let reader = try TopicReader(stage.broker.client, group: "chaos-downstream")
        let ledger = try await stage.database.open()
        let watching = Task { await stage.fleet.watch() }
        defer { watching.cancel() }
        // Nothing goes on without a broker; those who wait for it would wait for ever.
        let watchingBroker = Task {
            do {
                try await stage.broker.watch()
            } catch is CancellationError {
                return
            } catch {
                await stage.fleet.killAll()
                say("the run broke off: \(error)\nlogs: \(folder.path)")
                exit(1)
            }
        }
        defer { watchingBroker.cancel() }
        for place in 0..<options.workers { try await stage.fleet.start(place) }
        let ticker = Ticker()
        let ticking = Task {
            await ticker.run {
                "\(submitter.count) submitted, \(reader.count) events, \(await stage.fleet.running) workers"
            }
        }
        defer { ticking.cancel() }

        let saboteur = Saboteur(stage: stage, extraPlace: options.workers)
        let plan = ClaimPlan(seed: options.seed, now: SystemTime.now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await submitter.submit(
                    options.submissions, over: options.length, from: plan, by: stage.apple.writer)
            }
            group.addTask {
                try await saboteur.play(schedule, began: { ticker.began($0) }, ended: { ticker.ended($0) })
            }
            // The first error ends the run.
            for try await _ in group {}
        }
        say("all submitted, all faults over: draining")
        var violations: [Violation] = []
        let drain = await drained(submitter, reader, ledger)
        if let left = drain.left { violations.append(Violation(rule: .drained, detail: left)) }
        for place in 0..<options.workers { try await stage.fleet.stop(place) }
        say("workers stopped: judging")
        violations += try await audited(stage)
        let contents = try await LedgerContents.read(ledger, page: PostgresLedger.maxPage)
        let log = submitter.soFar
        // Read anew, so that what a reader lost while things went wrong is not held against the workers.
        let finalReader = try TopicReader(stage.broker.client, group: "chaos-judge")
        let topics = try await finalReader.read(Set(contents.events.map(\.event.id)))
        try await finalReader.close()
        let downstream = reader.soFar
        if downstream.skipped > 0 || downstream.entries.count < topics.entries.count {
            say(
                "a consumer that read all the time missed \(topics.entries.count - downstream.entries.count) events, "
                    + "and skipped \(downstream.skipped) offsets")
        }
        violations += Judge(
            submitted: log.submitted, ledger: contents, topics: topics, told: stage.inventory.told
        ).violations()
        violations += await stage.fleet.violations
        let passages = Passages.of(log.submitted, contents)
        let summary = Summary(
            seed: options.seed, faults: schedule.faults, submitted: log.submitted, sentAgain: log.sentAgain,
            ledger: contents, topics: topics, told: stage.inventory.told, drain: drain.time,
            exits: await stage.fleet.exits,
            starts: await stage.fleet.starts, stops: PartitionStops.longest(passages), violations: violations)
        await submitter.close()
        try await reader.close()
        await ledger.close()
        try await stage.close()
        return summary
    }

    /// Waits until nothing is left to be done.
    ///
    /// - Returns: how long it took, and what is left if it took too long.
    private func drained(
        _ submitter: Submitter, _ reader: TopicReader, _ ledger: PostgresLedger
    ) async -> (time: Duration, left: String?) {
        let start = ContinuousClock.now
        let submitted = submitter.soFar.submitted
        let distinct = Set(submitted.compactMap(\.claim.submissionID)).count
        let unreadable = submitted.count { $0.claim.expectation == .quarantined }
        while true {
            let elapsed = ContinuousClock.now - start
            var left = "the ledger does not answer"
            if let counts = try? await ledger.counts() {
                let settled = counts.submissions[.granted, default: 0] + counts.submissions[.failed, default: 0]
                let events = counts.grants + counts.submissions[.failed, default: 0] + counts.quarantined
                left =
                    "\(settled) of \(distinct) submissions settled, \(counts.quarantined) of \(unreadable) quarantined, "
                    + "\(counts.unpublished) unpublished, \(reader.count) of \(events) events on the topics"
                let isSettled = settled == distinct && counts.quarantined >= unreadable
                if isSettled, counts.unpublished == 0, reader.count >= events { return (elapsed, nil) }
            }
            if elapsed > Self.drainLimit { return (elapsed, left) }
            // There is nothing to wait on but the state of other processes.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}

/// When each submission came and was settled.
enum Passages {
    /// Of submissions that were settled once and from where they were sent first.
    static func of(_ submitted: [Submitted], _ ledger: LedgerContents) -> [PartitionStops.Passage] {
        let settled = Dictionary(
            ledger.submissions.map { (Place($0.origin.partition, $0.origin.offset), $0.settledAt.milliseconds) },
            uniquingKeysWith: { first, _ in first })
        return submitted.compactMap { record in
            settled[Place(record.partition, record.offset)].map {
                PartitionStops.Passage(partition: record.partition, sentAt: record.sentAt, settledAt: $0)
            }
        }
    }

    private struct Place: Hashable {
        let partition: Int32
        let offset: Int64

        init(_ partition: Int32, _ offset: Int64) {
            self.partition = partition
            self.offset = offset
        }
    }
}
