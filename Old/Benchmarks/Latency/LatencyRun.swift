import Foundation
import Kafka
import Purchases
import Synchronization

/// Submissions at a steady pace, each timed from its record's time to its event.
struct LatencyRun {
    /// The mock broker answers a fetch that finds nothing only when its wait is over; a real one answers when something comes.
    private static let properties = BenchPrograms.properties.merging(["fetch.wait.max.ms": "1"]) { $1 }
    private static let tick = Duration.milliseconds(1)
    /// Before the clock counts.
    private static let warmUpSeconds = 4.0

    let scenario: BenchCase
    let binaries: URL
    let perSecond: Double
    let seconds: Double

    func measure() async throws -> LatencyMeasurement {
        try await BenchStage.with(scenario, binaries: binaries) { stage in
            let clients = try BenchClients(
                bootstrap: stage.bootstrap, properties: Self.properties, linger: .zero)
            try await clients.join()
            let worker = try stage.startWorker(properties: Self.properties)
            defer { worker.end() }
            var source = try SubmissionSource(scenario, authority: stage.authority)
            let total = Int(perSecond * (Self.warmUpSeconds + seconds)) + 1
            // The worker joins with the first one, which does not count.
            try source.prepare(total + 1)
            try await clients.send(try source.records(total..<total + 1))
            while try await clients.events().isEmpty {}
            let samples = try await samples(total, source, clients)
            await clients.close()
            return LatencyMeasurement(
                scenario: scenario, perSecond: perSecond,
                samples: Array(samples.dropFirst(Int(perSecond * Self.warmUpSeconds))))
        }
    }

    /// In the order of submission.
    private func samples(
        _ total: Int, _ source: SubmissionSource, _ clients: BenchClients
    ) async throws -> [LatencySample] {
        let sent = SentMoments()
        return try await withThrowingTaskGroup(of: [LatencySample].self) { group in
            group.addTask {
                try await submit(total, source, clients, sent)
                return []
            }
            group.addTask {
                var samples = [LatencySample?](repeating: nil, count: total)
                var missing = total
                while missing > 0 {
                    let events = try await clients.events()
                    let now = ContinuousClock.now
                    for event in events {
                        guard let number = source.number(ofKey: event.key), samples.indices.contains(number),
                            samples[number] == nil
                        else { continue }
                        let submitted = sent[number]
                        samples[number] = LatencySample(
                            seen: submitted.moment.duration(to: now) / .milliseconds(1),
                            written: Double((event.timestampMilliseconds ?? 0) - submitted.milliseconds))
                        missing -= 1
                    }
                }
                return samples.compactMap { $0 }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func submit(
        _ total: Int, _ source: SubmissionSource, _ clients: BenchClients, _ sent: SentMoments
    ) async throws {
        var pacing = Pacing(perSecond: perSecond, total: total)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            while !pacing.isOver {
                let due = pacing.due(after: start.duration(to: .now))
                if !due.isEmpty {
                    let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
                    let records = try source.records(due).map { record in
                        var record = record
                        record.timestampMilliseconds = milliseconds
                        return record
                    }
                    sent.append(due.count, milliseconds: milliseconds)
                    // Not awaited here: the pace does not depend on the broker.
                    group.addTask { try await clients.send(records) }
                }
                try await Task.sleep(for: Self.tick)
            }
            try await group.waitForAll()
        }
    }
}

/// When each submission was sent, in their order.
private final class SentMoments: Sendable {
    private let moments = Mutex<[(moment: ContinuousClock.Instant, milliseconds: Int64)]>([])

    subscript(number: Int) -> (moment: ContinuousClock.Instant, milliseconds: Int64) {
        moments.withLock { $0[number] }
    }

    /// Notes that so many are sent now.
    ///
    /// - Parameter milliseconds: What their records say.
    func append(_ count: Int, milliseconds: Int64) {
        let now = (moment: ContinuousClock.now, milliseconds: milliseconds)
        moments.withLock { $0 += Array(repeating: now, count: count) }
    }
}

/// Milliseconds from a record's time.
struct LatencySample: Sendable {
    /// To the consumer that reads its event: all that a game's backend waits for.
    let seen: Double
    /// To the time in the event's record, which the worker takes after the ledger's commit, in whole milliseconds.
    let written: Double
}

/// What they come to, less Apple's own time.
struct LatencyMeasurement: Codable, Sendable {
    let scenario: BenchCase
    let perSecond: Double
    let count: Int
    let seenMedian, seen99, writtenMedian, written99: Double

    init(scenario: BenchCase, perSecond: Double, samples: [LatencySample]) {
        let apple = scenario.evidence == .receipt ? Double(scenario.latencyMilliseconds) : 0
        self.scenario = scenario
        self.perSecond = perSecond
        count = samples.count
        seenMedian = Statistics.percentile(50, of: samples.map(\.seen)) - apple
        seen99 = Statistics.percentile(99, of: samples.map(\.seen)) - apple
        writtenMedian = Statistics.percentile(50, of: samples.map(\.written)) - apple
        written99 = Statistics.percentile(99, of: samples.map(\.written)) - apple
    }
}
