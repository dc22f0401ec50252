import AppStore
import Foundation
import Fulfillment
import Ledger
import Logging
import Purchases

/// Several pipelines that share a topic and a ledger, as several workers do.
struct GroupBench {
    let group: FakeGroup
    let appStore: ScriptedAppStore
    let sink = FakeSink()
    let ledger: SQLiteLedger
    let flaky: FlakyLedger
    let members: [FakeMember]
    let pipelines: [Pipeline]
    private let folder: TemporaryFolder

    init(
        pipelines count: Int, partitions: Int, gate: Gate? = nil,
        configuration: PipelineConfiguration = PipelineConfiguration(maxInFlight: 16)
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let folder = try TemporaryFolder()
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path("ledger.db"), migrate: true), logger: logger)
        let flaky = FlakyLedger(ledger)
        let group = FakeGroup(partitions: partitions) { flaky.settled }
        let appStore = try ScriptedAppStore(gate: gate)
        let members = (0..<count).map { _ in group.join() }
        let sink = sink
        pipelines = members.enumerated().map { index, member in
            Pipeline(
                source: member, sink: sink, ledger: flaky, appStore: appStore, worker: WorkerID("worker-\(index)"),
                apps: AppRegistry([RegisteredApp(app: App(bundleID: "com.example.game"), sharedSecrets: [])]),
                signatures: SignatureVerifiers(roots: appStore.roots), clock: FastClock(),
                randomness: FixedRandomness(),
                configuration: configuration, logger: logger)
        }
        self.folder = folder
        self.members = members
        self.ledger = ledger
        self.flaky = flaky
        self.group = group
        self.appStore = appStore
    }

    /// Writes submissions of a purchase each, dealt out over the partitions.
    func write(_ numbers: Range<Int>, partitions: Int, first replies: (Int) -> [AppStoreReply] = { _ in [] }) throws {
        for number in numbers {
            let receipt = try appStore.receipt(first: replies(number)).base64
            group.write(
                SubmissionID("s-\(number)"), PipelineBench.message("s-\(number)", receipt: receipt),
                to: number % partitions)
        }
    }

    /// Runs all pipelines beside a script, and stops them when it has ended.
    func run(_ script: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for pipeline in pipelines { tasks.addTask { try await pipeline.run() } }
            tasks.addTask {
                defer { for pipeline in pipelines { pipeline.stop() } }
                try await script()
            }
            try await tasks.waitForAll()
        }
    }

    /// Waits until a condition holds.
    func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(2)) }
    }
}
