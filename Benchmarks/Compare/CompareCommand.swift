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
        var workers: [Comparison] = []
        var rates: [Comparison] = []
        var stages: [(before: [StageCost], after: [StageCost])] = []
        let folders = [before, worker.options.binaries].map { URL(filePath: $0) }
        for number in 0..<max(1, worker.options.runs) {
            // The one that is first finds what the other left behind, so they take turns in that as well.
            let order = number.isMultiple(of: 2) ? [0, 1] : [1, 0]
            for (place, scenario) in worker.cases.enumerated() {
                if workers.count == place {
                    workers.append(Comparison(name: scenario.name))
                    rates.append(Comparison(name: scenario.name))
                }
                var pair: [Int: Measurement] = [:]
                for build in order {
                    say(scenario.name, build, number)
                    var run = worker.options.run(scenario)
                    run.workerBinaries = folders[build]
                    run.measuresBound = false
                    pair[build] = try await run.measure(number: number)
                }
                guard let before = pair[0], let after = pair[1] else { continue }
                workers[place].add(
                    before: before.cpuMicrosecondsPerReceipt, after: after.cpuMicrosecondsPerReceipt)
                rates[place].add(before: before.receiptsPerSecond, after: after.receiptsPerSecond)
            }
            var pair: [[StageCost]] = [[], []]
            for build in order {
                say("stages", build, number)
                pair[build] = try await measureStages(folders[build])
            }
            stages.append((pair[0], pair[1]))
        }
        let result = Result(workers: workers, rates: rates, stages: Comparison.stages(stages))
        print(result.text)
        try ResultFile.write(result, to: worker.options.output)
    }

    private func say(_ what: String, _ build: Int, _ number: Int) {
        let name = ["before", "after"][build]
        Progress.say("\(what), \(name), run \(number + 1) of \(max(1, worker.options.runs))")
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
