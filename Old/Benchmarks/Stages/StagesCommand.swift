import ArgumentParser
import Foundation

/// `grantor-bench stages`: what each stage that a signed transaction goes through costs by itself, in this process, and what
/// it costs to read a receipt.
///
/// No broker, no network, no other process: the figures hold up under other load far better than those of a whole worker, so
/// this is what a change is judged by. Of several rounds the cheapest counts, because other load only ever adds.
struct StagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stages", abstract: "Measures the stages of a signed transaction one by one.")

    @Option(help: "Submissions per round.")
    var count = 10_000

    @Option(help: "Rounds; of each stage the cheapest counts.")
    var rounds = 5

    @Option(help: "Submissions in one transaction of the ledger.")
    var batch = 500

    @Option(help: "File that the results are written to, as JSON.")
    var output: String?

    @Option(help: "Results to compare with; ends with 1 if a stage has become dearer by more than a quarter.")
    var baseline: String?

    func run() async throws {
        let bench = try StageBench(count: max(1, count), batch: max(1, batch))
        var costs: [StageCost] = []
        for round in 1...max(1, rounds) {
            Progress.say("stages, round \(round) of \(rounds)")
            costs = StageCost.cheapest(of: costs, try await bench.measure())
        }
        print(StageCost.text(costs))
        try ResultFile.write(costs, to: output)
        guard let baseline else { return }
        let before = try JSONDecoder().decode([StageCost].self, from: Data(contentsOf: URL(filePath: baseline)))
        let comparison = StageComparison(of: costs, with: before)
        print("\n" + comparison.text)
        guard comparison.dearer.isEmpty else { throw ExitCode.failure }
    }
}

/// CPU time of one stage for one submission.
struct StageCost: Codable, Sendable {
    let stage: String
    let microseconds: Double

    /// Per stage the cheaper of two rounds; the first may be empty.
    static func cheapest(of costs: [StageCost], _ others: [StageCost]) -> [StageCost] {
        guard costs.count == others.count else { return others }
        return zip(costs, others).map { $0.microseconds <= $1.microseconds ? $0 : $1 }
    }

    /// For people.
    static func text(_ costs: [StageCost]) -> String {
        costs.map { cost in
            cost.stage.padding(toLength: 36, withPad: " ", startingAt: 0)
                + String(format: "%7.2f us", cost.microseconds)
        }.joined(separator: "\n")
    }
}
