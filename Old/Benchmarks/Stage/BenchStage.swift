import AppStoreSimulator
import Foundation
import Ledger
import PostgresTesting
import SystemTesting

/// Everything around the worker of one run: a folder, a broker, what stands in for Apple, and a ledger.
final class BenchStage {
    let scenario: BenchCase
    let programs: BenchPrograms
    let folder: URL
    let authority: SimulatorAuthority
    let bootstrap: String
    let standIn: BenchProcess
    private let broker: BenchProcess
    /// What stands in for Apple answers alike whatever the path.
    private let endpoint: String
    private let rootsFile: URL
    private let ledger: String
    private let server: PostgresServer?

    /// Where it verifies receipts.
    var verifyReceiptURL: String { "\(endpoint)/verifyReceipt" }

    private var authorityFolder: URL { folder.appending(path: "authority") }
    /// Who vouches for what stands in for Apple.
    var caFile: URL { authorityFolder.appending(path: SimulatorAuthority.File.serverRoot.rawValue) }

    /// Runs a body on a stage, which is gone afterwards, however it ends.
    ///
    /// - Parameter ledger: The URL of a ledger that is there already and stays; nil for a new one.
    static func with<Result>(
        _ scenario: BenchCase, binaries: URL, workerBinaries: URL? = nil, ledger: String? = nil,
        _ body: (BenchStage) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var programs = BenchPrograms(folder: binaries, scenario)
        programs.workerFolder = workerBinaries
        let stage = try await BenchStage(scenario, programs, folder: folder, ledger: ledger)
        do {
            let result = try await body(stage)
            try await stage.end()
            return result
        } catch {
            // What went wrong first counts.
            try? await stage.end()
            throw error
        }
    }

    private init(_ scenario: BenchCase, _ programs: BenchPrograms, folder: URL, ledger: String?) async throws {
        self.scenario = scenario
        self.folder = folder
        self.programs = programs
        let authorityFolder = folder.appending(path: "authority")
        authority = try SimulatorAuthority.kept(in: authorityFolder, now: Date())
        rootsFile = folder.appending(path: "roots.pem")
        try Data(authority.rootsPEM.utf8).write(to: rootsFile)
        broker = try programs.broker(partitions: scenario.partitions, in: folder)
        bootstrap = try await broker.firstLine().replacingOccurrences(of: "BOOTSTRAP ", with: "")
        standIn = try programs.standIn(
            authority: authorityFolder, latencyMilliseconds: scenario.latencyMilliseconds, in: folder)
        let port = try await standIn.firstLine().replacingOccurrences(of: "PORT ", with: "")
        endpoint = "https://127.0.0.1:\(port)"
        switch (ledger, scenario.ledger) {
        case (let ledger?, _):
            server = nil
            self.ledger = ledger
        case (nil, .sqlite):
            server = nil
            self.ledger = "sqlite:\(folder.appending(path: "ledger.db").path)"
        case (nil, .postgres):
            let server = try await PostgresServer.start()
            self.server = server
            self.ledger = server.url(schema: try await server.freshSchema())
            // By the worker's own build: another's schema may be newer or older than it takes.
            try await programs.migrate(self.ledger, in: folder)
        }
    }

    private func end() async throws {
        standIn.end()
        broker.end()
        try await server?.close()
    }

    /// - Parameters:
    ///   - httpPort: Where it answers about its health; zero for anywhere.
    ///   - properties: librdkafka's.
    func startWorker(
        httpPort: Int = 0, properties: [String: String] = BenchPrograms.properties
    ) throws -> BenchProcess {
        try programs.worker(
            BenchPrograms.Surroundings(
                bootstrap: bootstrap, verifyReceipt: (verifyReceiptURL, "\(endpoint)/sandbox/verifyReceipt"),
                caFile: caFile,
                rootsFile: rootsFile, ledger: ledger, inFlight: scenario.inFlight, httpPort: httpPort,
                properties: properties), in: folder)
    }

    /// What a call about a receipt sends, in parts that follow one another.
    static func callBody(_ receipt: [UInt8]) -> [[UInt8]] {
        [Array(#"{"receipt-data":""#.utf8), receipt, Array(#"","exclude-old-transactions":false}"#.utf8)]
    }

    /// Measures libcurl alone against the same stand-in, with as many calls in flight as the worker had.
    ///
    /// - Parameter hotCalls: Calls one after another, measured besides.
    func bareCalls(_ calls: Int, warmUp: Int, hotCalls: Int, receipt: [UInt8]) async throws -> BareCost {
        let body = folder.appending(path: "body.json")
        try Data(Self.callBody(receipt).joined()).write(to: body)
        return try await programs.bareCalls(
            [
                "--url", verifyReceiptURL, "--ca-file", caFile.path, "--body", body.path, "--in-flight",
                String(scenario.inFlight), "--warm-up", String(warmUp), "--calls", String(calls), "--hot-calls",
                String(hotCalls),
            ], in: folder)
    }
}
