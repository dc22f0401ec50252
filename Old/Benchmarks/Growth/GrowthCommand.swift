import ArgumentParser
import Foundation
import PostgresTesting

/// `grantor-bench growth`: what CPU per receipt becomes with more partitions, more rows in the ledger, more calls in flight,
/// and what a second core brings.
struct GrowthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth", abstract: "Measures what a receipt costs where there is more of everything.")

    @OptionGroup var options: BenchOptions

    /// What there is more of.
    enum Part: String, CaseIterable, ExpressibleByArgument {
        case partitions, rows, rowsPostgres, inFlight, cores
    }

    @Option(parsing: .upToNextOption, help: "Which parts: partitions, rows, rowsPostgres, inFlight, cores.")
    var parts = Part.allCases

    @Option(help: "Submissions per run.")
    var submissions = 40_000

    @Option(help: "Grants in the ledger beforehand, few and many.")
    var rows = FewAndMany(10_000, 10_000_000)

    @Option(help: "Partitions of the topic, few and many.")
    var partitions = FewAndMany(1, 64)

    @Option(help: "Calls in flight, few and many.")
    var inFlight = FewAndMany(100, 4000)

    func run() async throws {
        let results = try await measure()
        print(Self.text(results))
        try ResultFile.write(results, to: options.output)
    }

    func measure() async throws -> [GrowthResult] {
        var results: [GrowthResult] = []
        for part in parts {
            switch part {
            case .partitions: results.append(try await measure("partitions", partitions.both.map(partitions)))
            case .rows: results.append(try await measureRows())
            case .rowsPostgres: results.append(try await measureRowsOfPostgres())
            case .inFlight:
                results.append(try await measure("in flight, signed", inFlight.both.map(signed)))
                results.append(try await measure("in flight, receipts", inFlight.both.map(receipts)))
            case .cores:
                results.append(try await measure("cores, signed", Self.cores.map { restricted(signedCase, to: $0) }))
                results.append(try await measure("cores, receipts", Self.cores.map { restricted(receiptCase, to: $0) }))
            }
        }
        return results
    }

    /// The worker alone on the first core with everybody else on the others; then everybody everywhere.
    private static let cores = ["0", nil]
    private static var otherCores: String { "1-\(max(1, ProcessInfo.processInfo.processorCount - 1))" }

    private func partitions(_ count: Int) -> (label: String, run: BenchRun) {
        var scenario = signedCase
        scenario.partitions = count
        return ("\(count)", options.run(scenario))
    }

    private func signed(_ inFlight: Int) -> (label: String, run: BenchRun) {
        var scenario = signedCase
        scenario.inFlight = inFlight
        return ("\(inFlight)", options.run(scenario))
    }

    private func receipts(_ inFlight: Int) -> (label: String, run: BenchRun) {
        var scenario = receiptCase
        scenario.inFlight = inFlight
        scenario.warmUpSeconds = 4 + Double(inFlight) / 1000
        return ("\(inFlight)", options.run(scenario))
    }

    private func restricted(_ scenario: BenchCase, to cores: String?) -> (label: String, run: BenchRun) {
        var scenario = scenario
        scenario.cores = cores
        scenario.otherCores = cores == nil ? nil : Self.otherCores
        return (cores == nil ? "all" : "1", options.run(scenario))
    }

    private var signedCase: BenchCase {
        BenchCase(evidence: .signedTransaction, window: .submissions(submissions))
    }

    private var receiptCase: BenchCase { BenchCase(window: .submissions(submissions / 2)) }

    /// On ledgers that are made once and used by every run.
    private func measureRows() async throws -> GrowthResult {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-growth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var runs: [(label: String, run: BenchRun)] = []
        for count in rows.both {
            let file = folder.appending(path: "ledger-\(count).db")
            try await FilledLedger.make(at: file, rows: count)
            runs.append(("\(count)", filled(.sqlite, count, "sqlite:\(file.path)")))
        }
        return try await measure("rows, SQLite", runs)
    }

    private func measureRowsOfPostgres() async throws -> GrowthResult {
        let server = try await PostgresServer.start()
        do {
            var runs: [(label: String, run: BenchRun)] = []
            for count in rows.both {
                let ledger = try await NewPostgresLedger(on: server)
                try await FilledPostgresLedger(server: server, schema: ledger.schema).fill(rows: count)
                runs.append(("\(count)", filled(.postgres, count, ledger.url)))
            }
            let result = try await measure("rows, PostgreSQL", runs)
            try await server.close()
            return result
        } catch {
            // What went wrong first counts.
            try? await server.close()
            throw error
        }
    }

    private func filled(_ kind: BenchCase.Ledger, _ rows: Int, _ ledger: String) -> BenchRun {
        var scenario = signedCase
        scenario.ledger = kind
        scenario.rows = rows
        var run = options.run(scenario)
        run.ledger = ledger
        run.isScattered = true
        return run
    }

    private func measure(_ name: String, _ runs: [(label: String, run: BenchRun)]) async throws -> GrowthResult {
        let results = try await options.measure(runs.map { ("growth, \(name): \($0.label)", $0.run) })
        return GrowthResult(name: name, steps: zip(runs, results).map { .init(label: $0.label, result: $1) })
    }

    static func text(_ results: [GrowthResult]) -> String {
        var table = ColumnTable("", "of", "receipts/s", "cores", "CPU us", "growth %", "bound us", "ratio", "growth %")
        for result in results {
            for step in result.steps {
                let cost = step.result.median(\.cpuMicrosecondsPerReceipt)
                let ratio = step.result.median(\.ratio)
                table.add(
                    result.name, step.label, step.result.median(\.receiptsPerSecond).text(),
                    step.result.median(\.cores).text(2), cost.text(1),
                    result.growth(to: cost, \.cpuMicrosecondsPerReceipt),
                    step.result.median(\.boundMicroseconds).text(1), ratio.text(2), result.growth(to: ratio, \.ratio))
            }
        }
        return table.text + "\n"
            + """
            Medians of \(results.first?.steps.first?.result.measurements.count ?? 0) runs. Growth: against the first of its kind; \
            of the ratio, what the worker itself adds to what bounds it.
            """
    }
}

/// Two numbers on the command line: `10,100`.
struct FewAndMany: ExpressibleByArgument {
    let both: [Int]

    init(_ few: Int, _ many: Int) {
        both = [few, many]
    }

    init?(argument: String) {
        let numbers = argument.split(separator: ",").map { Int($0) ?? 0 }
        guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else { return nil }
        both = numbers
    }

    var defaultValueDescription: String { both.map(String.init).joined(separator: ",") }
}

/// One kind of growth, from little to much.
struct GrowthResult: Encodable {
    struct Step: Encodable {
        let label: String
        let result: CaseResult
    }

    let name: String
    let steps: [Step]

    /// In percent, for people.
    func growth(to value: Double, _ member: (Measurement) -> Double) -> String {
        guard let first = steps.first?.result.median(member) else { return "-" }
        return ((value / first - 1) * 100).text()
    }
}
