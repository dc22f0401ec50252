import ArgumentParser
import Foundation

/// `grantor-bench outage`: the App Store goes away at full load and comes back.
struct OutageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outage", abstract: "Takes the App Store away at full load, and looks at the worker meanwhile.",
        discussion: """
            Ends with 1 if a submission was parked, failed or lost, if memory grew, if more calls were made at once than \
            configured, or if the backlog drained at less than four fifths of the usual pace.
            """)

    @Option(help: "Folder with the release build's executables.")
    var binaries = ".build/release"

    @Option(help: "How long the App Store is away.")
    var seconds = 60

    @Option(help: "How long the worker is measured before and after.")
    var usualSeconds = 15

    @Option(help: "Calls to Apple in flight at once.")
    var inFlight = 200

    @Option(name: .customLong("latency"), help: "Milliseconds that Apple takes for a receipt.")
    var latency = 250

    func run() async throws {
        let scenario = BenchCase(latencyMilliseconds: latency, inFlight: inFlight, receiptBytes: 4_000)
        let bench = OutageBench(
            scenario: scenario, programs: BenchPrograms(folder: URL(filePath: binaries)), outage: .seconds(seconds),
            usual: .seconds(usualSeconds))
        let report = try await bench.measure()
        print(report.text)
        if !report.isGood { throw ExitCode.failure }
    }
}
