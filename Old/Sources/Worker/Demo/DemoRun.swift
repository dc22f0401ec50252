import AppStore
import AppStoreSimulator
import Audit
import Foundation
import Fulfillment
import Kafka
import Ledger
import Logging
import Purchases

/// The main job on embedded parts: librdkafka's mock cluster, the App Store simulator over TLS, a SQLite ledger in a
/// temporary folder, and the worker itself.
struct DemoRun {
    /// Partitions of the input topic: enough for the mock cluster's 5 MiB a partition to hold both waves.
    static let inputPartitions = 24
    static let outputPartitions = 4
    /// Messages handed to the broker at once.
    static let produceBatch = 40

    let logger: Logger
    let display: ProgressDisplay

    /// Runs both waves and judges the result.
    ///
    /// - Returns: whether everything came out as it must.
    func run() async throws -> Bool {
        let clock = SystemClock()
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        display.say("Starting a Kafka mock cluster, an App Store simulator over TLS and a SQLite ledger ...")
        let parts = try await DemoParts.start(in: folder, clock: clock, logger: logger)
        defer { parts.cluster.stop() }
        let started = clock.elapsed()
        let result = try await drive(parts, now: clock.now())
        try await parts.simulator.stop()
        let report = DemoReport(result: result, took: clock.elapsed() - started)
        display.say(report.text)
        return result.audit.passed
    }

    private func drive(_ parts: DemoParts, now: Timestamp) async throws -> DemoResult {
        let scenario = try DemoScenario(
            now: now, issuer: DemoIssuer(authority: parts.authority, now: now), asksServerAPI: true)
        for registration in scenario.registrations { try parts.simulator.register(registration) }
        for submission in scenario.first {
            if let transaction = submission.transactionID, !submission.faults.isEmpty {
                try parts.simulator.script(transaction, submission.faults)
            }
        }
        return try await withThrowingTaskGroup(of: DemoResult?.self) { group in
            group.addTask {
                try await parts.worker.run()
                return nil
            }
            group.addTask { try await self.submit(scenario, parts) }
            var result: DemoResult?
            while let ended = try await group.next() {
                if let ended { result = ended }
            }
            guard let result else { throw DemoError.workerEnded }
            return result
        }
    }

    private func submit(_ scenario: DemoScenario, _ parts: DemoParts) async throws -> DemoResult {
        defer { parts.worker.stop() }
        let ends = DemoWatch.Ends(
            producer: parts.producer, consumer: parts.consumer, topics: parts.topics,
            areSettled: { submitted in
                guard parts.worker.pipeline.status.settledRecords >= submitted else { return false }
                return try await parts.ledger.counts().unpublished == 0
            })
        var watch = DemoWatch(ends: ends, mark: scenario.mark, display: display, clock: SystemClock())
        try await watch.submit(scenario.first.shuffled(), called: "purchases and attempts")
        try await watch.submit(scenario.second.shuffled(), called: "duplicates, restores and thefts")
        let submissions = scenario.first + scenario.second
        let counts = try await parts.ledger.counts()
        let report = try await parts.audit.run(drained: true)
        let statistics = parts.simulator.statistics()
        return DemoResult(
            submissions: submissions, answers: watch.answers, counts: counts,
            faultsPlayed: [statistics.production, statistics.sandbox].flatMap(\.faults.values).reduce(0, +),
            audit: DemoAudit(submissions: submissions, answers: watch.answers, ledger: (counts, report)))
    }
}

/// Why a demo ended without a result.
enum DemoError: Error, CustomStringConvertible {
    /// The worker ended before everything was answered.
    case workerEnded
    /// Answers stopped coming.
    case stalled(answered: Int, of: Int, waiting: [String])
    /// The broker did not take a message.
    case notSubmitted(KafkaError)
    /// The simulator did not take the faults that it is to show.
    case notScripted(Int)

    var description: String {
        switch self {
        case .workerEnded: "the worker ended before everything was answered"
        case .stalled(let answered, let total, let waiting):
            "nothing arrived for 60 s; \(answered) of \(total) answered, no answer to: \(waiting.joined(separator: "; "))"
        case .notSubmitted(let error): "the broker did not take a message: \(error)"
        case .notScripted(let status): "the simulator answered its script with HTTP \(status)"
        }
    }
}

/// What a demo led to.
struct DemoResult: Sendable {
    let submissions: [WorkloadSubmission]
    let answers: DemoAnswers
    /// Nil where the ledger cannot be asked.
    let counts: LedgerCounts?
    /// Calls that Apple answered with a fault; nil where the simulator cannot be asked.
    let faultsPlayed: Int?
    let audit: DemoAudit
}
