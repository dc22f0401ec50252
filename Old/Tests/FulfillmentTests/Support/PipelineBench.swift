import AppStore
import Foundation
import Fulfillment
import Ledger
import Logging
import Purchases

/// A pipeline on fakes and a real SQLite ledger, with the means to follow it.
struct PipelineBench {
    let source = FakeSource()
    let sink = FakeSink()
    let appStore: ScriptedAppStore
    let ledger: SQLiteLedger
    /// The ledger's file; nil if somebody else made it.
    let path: String?
    private let folder: TemporaryFolder?
    let flaky: FlakyLedger
    let pipeline: Pipeline

    init(
        gate: Gate? = nil, configuration: PipelineConfiguration = PipelineConfiguration(maxInFlight: 16),
        ledger existing: SQLiteLedger? = nil, clock: any WorkerClock = FastClock(),
        weather: Weather? = nil, executor: (any TaskExecutor)? = nil, seams: Seams = Seams(),
        others: [RegisteredApp] = [],
        inventory: (any InventoryEndpoint)? = nil, logger: Logger? = nil,
        app: (App) throws -> RegisteredApp = { RegisteredApp(app: $0, sharedSecrets: []) }
    ) async throws {
        // Whoever lives in a time of its own answers in it, too.
        appStore = try ScriptedAppStore(
            gate: gate, weather: weather, executor: executor ?? (clock as? VirtualClock)?.executor)
        let logger = logger ?? Self.quiet
        if let existing {
            ledger = existing
            folder = nil
            path = nil
        } else {
            let folder = try TemporaryFolder()
            self.folder = folder
            let path = folder.path("ledger.db")
            self.path = path
            ledger = try await SQLiteLedger.open(
                SQLiteLedgerConfiguration(path: path, migrate: true), logger: logger)
        }
        flaky = FlakyLedger(ledger, clock: clock as? VirtualClock)
        pipeline = Pipeline(
            source: seams.source(source), sink: seams.sink(sink), ledger: seams.ledger(flaky), appStore: appStore,
            worker: WorkerID(UUID().uuidString),
            apps: AppRegistry(others + [try app(App(bundleID: "com.example.game"))]),
            signatures: SignatureVerifiers(roots: appStore.roots), clock: clock, randomness: FixedRandomness(),
            inventory: inventory.map { [ledger] in InventoryAccess(room: ledger, endpoint: $0) },
            configuration: configuration, logger: logger)
    }

    /// What stands between the pipeline and its fakes: nothing, unless a test puts something there.
    struct Seams {
        var source: (any SubmissionSource) -> any SubmissionSource = { $0 }
        var sink: (any EventSink) -> any EventSink = { $0 }
        var ledger: (any PipelineLedger) -> any PipelineLedger = { $0 }
    }

    private static var quiet: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    /// Runs until so many deliveries are done and all is published.
    func run(untilDelivered count: Int) async throws {
        try await run { bench in
            let counts = try await bench.ledger.counts()
            return counts.grants >= count && counts.openDeliveries == 0 && counts.unpublished == 0
        }
    }

    /// A message that claims a purchase by other evidence.
    static func message(_ id: String, user: String = "u", evidence: String) -> [UInt8] {
        Array(#"{"submissionId":"\#(id)","userId":"\#(user)","bundleId":"com.example.game",\#(evidence)}"#.utf8)
    }

    /// A message that claims a receipt.
    static func message(_ id: String, user: String = "u", receipt: String, more: String = "") -> [UInt8] {
        Array(
            #"{"submissionId":"\#(id)","userId":"\#(user)","bundleId":"com.example.game","receipt":"\#(receipt)"\#(more)}"#
                .utf8)
    }

    /// Runs the pipeline until a condition holds, then stops it and waits for its end.
    func run(until condition: @escaping @Sendable (PipelineBench) async throws -> Bool) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run() }
            group.addTask {
                while try await !condition(self) { try await Task.sleep(for: .milliseconds(2)) }
                pipeline.stop()
            }
            try await group.waitForAll()
        }
    }

    /// Runs until so many records have their fate in the ledger and nothing is unpublished.
    func run(untilSettled count: Int) async throws {
        try await run { bench in
            guard bench.pipeline.status.settledRecords >= count else { return false }
            return try await bench.ledger.counts().unpublished == 0
        }
    }
}
