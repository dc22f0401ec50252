import ArgumentParser
import Foundation

/// `grantor-chaos`: real processes under faults, and a judge who knows the truth.
@main
struct GrantorChaos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grantor-chaos",
        abstract: "Runs workers under faults and proves that nothing was lost, granted twice or told wrongly.",
        subcommands: [RunCommand.self, ScaleCommand.self, ScheduleCommand.self], defaultSubcommand: RunCommand.self)
}

/// `grantor-chaos run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plays a schedule of faults while submissions come, then judges.")

    @Option(help: "Draws faults and submissions; the same seed repeats them.")
    var seed: UInt64 = 2026

    @Option(help: "Minutes in which faults begin and submissions come.")
    var minutes = 1.5

    @Option(help: "Submissions per second.")
    var rate = 20.0

    @Option(help: "Workers, but for the one that comes and goes.")
    var workers = 3

    @Option(name: .customLong("set"), help: "A variable for the workers, as NAME=VALUE; may be given several times.")
    var variables: [String] = []

    @Flag(help: "Keeps the logs of a run in which nothing was wrong.")
    var keep = false

    func validate() throws {
        guard minutes > 0, minutes <= 24 * 60 else { throw ValidationError("--minutes must be above 0, at most a day") }
        guard rate > 0, rate <= 1000 else { throw ValidationError("--rate must be above 0 and at most 1000") }
        guard (2...8).contains(workers) else { throw ValidationError("--workers must be from 2 to 8") }
    }

    func run() async throws {
        let folder = try RunFolder()
        let run = ChaosRun(
            options: ChaosRun.Options(
                seed: seed, length: .milliseconds(Int(minutes * 60_000)), rate: rate, workers: workers,
                environment: try VariableList(variables).values),
            folder: folder.url)
        let summary: Summary
        do {
            summary = try await run.play()
        } catch {
            say("the run broke off: \(error)\nlogs: \(folder.url.path)")
            throw ExitCode.failure
        }
        say("\n" + summary.text)
        guard summary.violations.isEmpty else {
            say("\nFAILED with seed \(seed); logs: \(folder.url.path)")
            throw ExitCode.failure
        }
        if keep { say("\nlogs: \(folder.url.path)") } else { try folder.remove() }
        say("\npassed with seed \(seed)")
    }
}

/// `grantor-chaos schedule`.
struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule", abstract: "Prints the faults of a run without playing it.")

    @Option(help: "Draws the faults.")
    var seed: UInt64 = 2026

    @Option(help: "Minutes in which faults begin.")
    var minutes = 1.5

    @Option(help: "Workers, but for the one that comes and goes.")
    var workers = 3

    func run() {
        let options = Schedule.Options(seed: seed, length: Int(minutes * 60_000), workers: workers)
        print(Schedule(options).text)
    }
}

/// Variables from the command line.
struct VariableList {
    let values: [String: String]

    init(_ texts: [String]) throws {
        var values: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ValidationError("\(text) is not NAME=VALUE") }
            values[String(parts[0])] = String(parts[1])
        }
        self.values = values
    }
}
