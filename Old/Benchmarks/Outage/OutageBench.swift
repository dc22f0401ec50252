import AppStoreSimulator
import Foundation
import Kafka
import Ledger
import Logging
import Purchases

/// A worker in a process of its own under a load that never ends, while the App Store is there, away, and there again.
struct OutageBench {
    /// Submissions handed to the broker and not settled yet, at most: what the mock cluster holds with room to spare.
    private static let maxAhead = 20_000
    /// Purchases that the submissions are about; each is submitted again and again.
    private static let receipts = 200
    /// After the App Store is back: a pause of 15 s at most and a ramp of 6 s come before the usual pace.
    private static let recovery = Duration.seconds(22)
    private static let poll = Duration.milliseconds(500)

    let scenario: BenchCase
    let programs: BenchPrograms
    let outage: Duration
    let usual: Duration

    func measure() async throws -> OutageReport {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-outage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let broker = try programs.broker(partitions: scenario.partitions, in: folder)
        defer { broker.end() }
        let bootstrap = try await broker.firstLine().replacingOccurrences(of: "BOOTSTRAP ", with: "")
        let simulator = try simulator(in: folder)
        let endpoints = try await simulator.start()
        let worker = try programs.worker(
            BenchPrograms.Surroundings(
                bootstrap: bootstrap,
                verifyReceipt: (endpoints.productionURL.absoluteString, endpoints.sandboxURL.absoluteString),
                caFile: endpoints.caFile, rootsFile: endpoints.rootsFile,
                ledger: "sqlite:\(folder.appending(path: "ledger.db").path)", inFlight: scenario.inFlight), in: folder)
        defer { worker.end() }
        let producer = try KafkaProducer(
            configuration: KafkaProducerConfiguration(
                client: KafkaClientConfiguration(bootstrapServers: bootstrap, properties: BenchPrograms.properties)),
            logger: Self.silent)
        let ledger = try await openLedger(in: folder)
        var load = Load(ledger: ledger, producer: producer, simulator: simulator, worker: worker)
        try load.prepare(Self.receipts, bytes: scenario.receiptBytes)

        simulator.behave(fine)
        try await load.fill(upTo: Self.maxAhead)
        while try await load.settled() < scenario.inFlight * 4 { try await Task.sleep(for: Self.poll) }
        var phases = [try await phase("usual", usual, &load)]
        simulator.behave(Behaviour(outage: .unavailable))
        phases.append(try await phase("App Store away", outage, &load))
        simulator.behave(fine)
        phases.append(try await phase("coming back", Self.recovery, &load))
        phases.append(try await phase("backlog", usual, &load))
        while try await load.settled() < load.produced { try await Task.sleep(for: Self.poll) }
        let counts = try await ledger.counts()
        let report = OutageReport(
            phases: phases, produced: load.produced, counts: counts, mostCalls: scenario.inFlight,
            peakCalls: simulator.statistics().inFlightPeak)
        await producer.close(deadline: .seconds(2))
        try await ledger.close()
        try await simulator.stop()
        return report
    }

    private static var silent: Logger { Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() } }

    private var fine: Behaviour { Behaviour(latency: .fixed(milliseconds: scenario.latencyMilliseconds)) }

    private func simulator(in folder: URL) throws -> AppStoreSimulator {
        var configuration = AppStoreSimulator.Configuration()
        configuration.caFile = folder.appending(path: "ca.pem")
        configuration.rootsFile = folder.appending(path: "roots.pem")
        return try AppStoreSimulator(
            authority: SimulatorAuthority(now: Date()), configuration: configuration, logger: Self.silent,
            now: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
    }

    /// The worker's own, once it has made it.
    private func openLedger(in folder: URL) async throws -> SQLiteLedger {
        let path = folder.appending(path: "ledger.db").path
        while true {
            do {
                return try await SQLiteLedger.open(
                    SQLiteLedgerConfiguration(path: path, migrate: false), logger: Self.silent)
            } catch {
                try await Task.sleep(for: Self.poll)
            }
        }
    }

    private func phase(_ name: String, _ length: Duration, _ load: inout Load) async throws -> OutageReport.Phase {
        let start = ContinuousClock.now
        let (settled, calls) = (try await load.settled(), load.calls)
        var memory = 0.0
        var parked = 0
        while start.duration(to: .now) < length {
            try await load.fill(upTo: Self.maxAhead)
            memory = max(memory, try load.worker.memoryMiB())
            let counts = try await load.ledger.counts()
            parked = max(parked, (counts.submissions[.parked] ?? 0) + (counts.submissions[.held] ?? 0))
            try await Task.sleep(for: Self.poll)
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        return OutageReport.Phase(
            name: name, seconds: seconds, perSecond: Double(try await load.settled() - settled) / seconds,
            callsPerSecond: Double(load.calls - calls) / seconds, memoryMiB: memory, parked: parked)
    }
}

/// Submissions without end.
private struct Load {
    let ledger: SQLiteLedger
    let producer: KafkaProducer
    let simulator: AppStoreSimulator
    let worker: BenchProcess
    private static let batch = 250

    private var receipts: [String] = []
    private(set) var produced = 0

    init(ledger: SQLiteLedger, producer: KafkaProducer, simulator: AppStoreSimulator, worker: BenchProcess) {
        self.ledger = ledger
        self.producer = producer
        self.simulator = simulator
        self.worker = worker
    }

    var calls: Int { simulator.statistics().production.calls }

    func settled() async throws -> Int {
        try await ledger.counts().submissions.values.reduce(0, +)
    }

    mutating func prepare(_ count: Int, bytes: Int) throws {
        let now = simulatedNow
        receipts = try (0..<count).map { index in
            let purchase = SimulatedPurchase(
                transactionID: TransactionID(String(2_000_000_000 + index)), productID: "gems", purchasedAt: now)
            return try simulator.issue(
                ReceiptSpecification(
                    bundleID: BundleID(BenchPrograms.bundleID), environment: .production, purchases: [purchase],
                    creationDate: now,
                    targetSize: bytes))
        }
    }

    private var simulatedNow: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    mutating func fill(upTo ahead: Int) async throws {
        let room = try await settled() + ahead - produced
        for start in stride(from: 0, to: max(0, room), by: Self.batch) {
            let records = (start..<min(start + Self.batch, room)).map { offset in
                let number = produced + offset - start
                let place = number % receipts.count
                let text =
                    #"{"submissionId":"bench-\#(number)","userId":"user-\#(place)","bundleId":"\#(BenchPrograms.bundleID)","receipt":"\#(receipts[place])"}"#
                return KafkaProducerRecord(
                    topic: "receipts.submitted", key: Array("user-\(number)".utf8), value: Array(text.utf8))
            }
            _ = await producer.send(records)
            produced += records.count
        }
    }
}

/// What came of it.
struct OutageReport {
    struct Phase {
        let name: String
        let seconds, perSecond, callsPerSecond, memoryMiB: Double
        /// The most at once.
        let parked: Int
    }

    let phases: [Phase]
    let produced: Int
    let counts: LedgerCounts
    let mostCalls: Int
    let peakCalls: Int

    private var ratio: Double { (phases.last?.perSecond ?? 0) / (phases.first?.perSecond ?? 1) }
    private var failed: Int { counts.submissions[.failed] ?? 0 }
    private var lost: Int { produced - (counts.submissions[.granted] ?? 0) - failed }
    private var growth: Double { (phases.map(\.memoryMiB).max() ?? 0) / (phases.first?.memoryMiB ?? 1) }

    /// Whether the worker kept its promises.
    var isGood: Bool {
        phases.allSatisfy { $0.parked == 0 } && failed == 0 && lost == 0 && ratio >= 0.8 && peakCalls <= mostCalls
            && growth < 1.25
    }

    /// For people.
    var text: String {
        let header = "                 seconds  settled/s  calls/s  memory MiB  parked"
        let lines = phases.map { phase in
            String(
                format: "%@  %7.0f  %9.0f  %7.0f  %10.0f  %6d",
                phase.name.padding(toLength: 15, withPad: " ", startingAt: 0), phase.seconds, phase.perSecond,
                phase.callsPerSecond, phase.memoryMiB, phase.parked)
        }
        let summary = String(
            format:
                "%d submitted, %d failed, %d lost; at most %d of %d calls at once; the backlog drains at %.0f %% of the usual pace: %@",
            produced, failed, lost, peakCalls, mostCalls, ratio * 100, isGood ? "good" : "NOT GOOD")
        return ([header] + lines + [summary]).joined(separator: "\n")
    }
}
