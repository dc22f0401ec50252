import ArgumentParser
import Foundation

/// `grantor-bench all`: every claim about speed, one after the other.
struct AllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "Measures all that the project claims about speed; takes some forty minutes.",
        discussion:
            "Progress goes to standard error. With --runs 1 and --rows 10000,1000000 it takes about ten minutes.")

    @OptionGroup var options: BenchOptions

    @Option(help: "Minutes that memory is watched.")
    var memoryMinutes = 2.0

    @Option(
        help: "Grants in the ledger beforehand, few and many; each million takes half a minute and 1.6 GB of disk.")
    var rows = "10000,10000000"

    func run() async throws {
        let worker = WorkerResult(
            cases: try await command(WorkerCommand.self).measure(), verification: try VerificationCost.measure())
        Self.show("The worker beside its limits", worker.text)
        let little = try await command(LittleCommand.self).measure()
        Self.show("In flight divided by latency", LittleCommand.text(little))
        let latency = try await command(LatencyCommand.self).measure()
        Self.show("Latency at a tenth of the throughput", LatencyCommand.text(latency))
        let start = try await command(StartCommand.self).measure()
        Self.show("Start", StartCommand.text(start))
        let growth = try await command(GrowthCommand.self, ["--rows", rows]).measure()
        Self.show("Growth", GrowthCommand.text(growth))
        let memory = try await command(MemoryCommand.self, ["--minutes", String(memoryMinutes)]).measure()
        Self.show("Memory", memory.text)
        try ResultFile.write(
            Results(worker: worker, little: little, latency: latency, start: start, growth: growth, memory: memory),
            to: options.output)
    }

    /// A part with the options that it would have by itself.
    private func command<Command: ParsableCommand>(
        _ type: Command.Type, _ arguments: [String] = []
    ) throws -> Command {
        try type.parse(["--binaries", options.binaries, "--runs", String(options.runs)] + arguments)
    }

    private static func show(_ title: String, _ text: String) {
        print("\n== \(title)\n\n\(text)")
        fflush(nil)
    }

    private struct Results: Encodable {
        let worker: WorkerResult
        let little: [CaseResult]
        let latency: [LatencyMeasurement]
        let start: [StartMeasurement]
        let growth: [GrowthResult]
        let memory: MemoryMeasurement
    }
}
