import ArgumentParser
import Foundation

/// `grantor-bench compare`: two builds of the worker by turns, and of its stages, with the ratios between them.
///
/// What the machine does meanwhile hits both: the two runs of a pair follow each other, and which is first changes from pair
/// to pair. All that is around a worker is of this build whatever the worker is of; stages are measured by each build's own
/// program.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Measures two builds by turns, and prints ratios.")

    @Argument(help: "Folder with the other build's executables.")
    var before: String

    @OptionGroup var worker: WorkerCommand

    func run() async throws {
        var workers: [[(before: Measurement, after: Measurement)]] = worker.cases.map { _ in [] }
        var stages: [(before: [StageCost], after: [StageCost])] = []
        for number in 0..<max(1, worker.options.runs) {
            for (place, scenario) in worker.cases.enumerated() {
                let pair = try await byTurns(scenario.name, number) { build in
                    var run = worker.options.run(scenario)
                    run.workerBinaries = build
                    run.measuresBound = false
                    return try await run.measure(number: number)
                }
                workers[place].append(pair)
            }
            stages.append(try await byTurns("stages", number, measureStages))
        }
        let names = worker.cases.map(\.name)
        let result = Result(
            workers: zip(names, workers).map { Comparison(name: $0, of: $1, by: \.cpuMicrosecondsPerReceipt) },
            rates: zip(names, workers).map { Comparison(name: $0, of: $1, by: \.receiptsPerSecond) },
            stages: Comparison.stages(stages))
        print(result.text)
        try ResultFile.write(result, to: worker.options.output)
    }

    /// Measures both builds, one after the other. The one that is first finds what the other left behind, so from pair to pair
    /// they take turns in that as well.
    private func byTurns<Value>(
        _ what: String, _ number: Int, _ measure: (_ build: URL) async throws -> Value
    ) async throws -> (before: Value, after: Value) {
        func measured(_ name: String, _ folder: String) async throws -> Value {
            Progress.say("\(what), \(name), run \(number + 1) of \(max(1, worker.options.runs))")
            return try await measure(URL(filePath: folder))
        }
        if number.isMultiple(of: 2) {
            let first = try await measured("before", before)
            return (first, try await measured("after", worker.options.binaries))
        }
        let first = try await measured("after", worker.options.binaries)
        return (try await measured("before", before), first)
    }

    /// One round by the build's own program.
    private func measureStages(_ build: URL) async throws -> [StageCost] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-stages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // What is left of a benchmark's folder harms nobody.
        defer { try? FileManager.default.removeItem(at: folder) }
        let output = folder.appending(path: "stages.json")
        let process = try BenchProcess(
            build.appending(path: "grantor-bench"), ["stages", "--rounds", "1", "--output", output.path], in: folder,
            name: "stages")
        _ = try await process.output(within: .seconds(300))
        return try JSONDecoder().decode([StageCost].self, from: Data(contentsOf: output))
    }

    private struct Result: Encodable {
        let workers: [Comparison]
        let rates: [Comparison]
        let stages: [Comparison]

        /// For people.
        var text: String {
            """
            \(Comparison.text(workers, unit: "worker, CPU us"))

            \(Comparison.text(rates, unit: "receipts/s of all processes"))

            \(Comparison.text(stages, unit: "stage, CPU us"))
            Before and after: medians. Ratio: the median of the pairs' ratios after/before, beside the lowest and the highest.
            """
        }
    }
}
