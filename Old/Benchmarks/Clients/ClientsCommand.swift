import ArgumentParser
import Foundation

/// `grantor-bench clients`: what Kafka's consumer, its producer and the HTTP transport cost by themselves, each with nothing
/// else in this process. Broker and stand-in are processes of their own.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients", abstract: "Measures consumer, producer and transport one by one.")

    @OptionGroup var options: BenchOptions

    @Option(help: "Records that are read, in each run; the mock broker holds some 20,000 of them.")
    var records = 15_000

    @Option(help: "Events that are produced, in each run.")
    var events = 50_000

    @Option(help: "Calls, in each run.")
    var calls = 20_000

    func run() async throws {
        var costs: [[StageCost]] = []
        for number in 1...max(1, options.runs) {
            Progress.say("clients, run \(number) of \(max(1, options.runs))")
            let scenario = BenchCase(receiptBytes: 8_000)
            costs.append(
                try await BenchStage.with(scenario, binaries: URL(filePath: options.binaries)) { stage in
                    let bench = try ClientsBench(stage)
                    return [
                        try await bench.produce(events), try await bench.consume(records),
                        try await bench.call(calls), try await bench.bareCall(calls),
                    ]
                })
        }
        let medians = (costs.first ?? []).indices.map { place in
            StageCost(
                stage: costs[0][place].stage, microseconds: Statistics.median(costs.map { $0[place].microseconds }))
        }
        print(StageCost.text(medians))
        try ResultFile.write(medians, to: options.output)
    }
}
