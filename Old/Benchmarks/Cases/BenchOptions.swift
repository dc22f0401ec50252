import ArgumentParser
import Foundation

/// What all measurements of whole workers are told.
struct BenchOptions: ParsableArguments {
    @Option(help: "Folder with the release build's executables.")
    var binaries = ".build/release"

    @Option(help: "Runs per case; the median counts.")
    var runs = 3

    @Option(help: "File that the results are written to, as JSON.")
    var output: String?

    /// Runs every case as often as was asked for, all cases in turn so that what the machine does meanwhile hits all of them.
    func measure(_ cases: [(name: String, run: BenchRun)]) async throws -> [CaseResult] {
        var measurements = cases.map { _ in [Measurement]() }
        for number in 0..<max(1, runs) {
            for (place, (name, run)) in cases.enumerated() {
                Progress.say("\(name), run \(number + 1) of \(max(1, runs))")
                measurements[place].append(try await run.measure(number: number))
            }
        }
        return zip(cases, measurements).map { CaseResult(scenario: $0.run.scenario, measurements: $1) }
    }

    /// Runs of a case, each on a ledger of its own.
    func run(_ scenario: BenchCase) -> BenchRun {
        BenchRun(scenario: scenario, binaries: URL(filePath: binaries))
    }
}

extension BenchCase.Ledger: ExpressibleByArgument {}
extension BenchCase.Evidence: ExpressibleByArgument {}
