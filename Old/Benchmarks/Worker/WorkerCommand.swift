import ArgumentParser
import Foundation

/// `grantor-bench worker`: receipts per second, CPU per receipt and peak memory of the worker process, end to end.
///
/// Broker, stand-in, worker and load are four processes on one machine, so receipts per second is what all of them reach
/// together; CPU per receipt is the worker's own and holds up better under other load.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Measures grantor run beside the limits of what it has to do.")

    @OptionGroup var options: BenchOptions

    @Option(help: "Receipts per run; 0 leaves them out.")
    var receipts = 20_000

    @Option(help: "Signed transactions per run; 0 leaves them out.")
    var signedTransactions = 60_000

    @Option(help: "Calls to Apple in flight at once.")
    var inFlight = 1000

    @Option(
        name: .customLong("latency"), parsing: .upToNextOption,
        help: "Milliseconds that Apple takes for a receipt; one case for each.")
    var latencies: [Int] = [0, 100, 250]

    @Option(help: "Bytes of a receipt before base64.")
    var receiptBytes = 8_000

    @Option(
        name: .customLong("ledger"), parsing: .upToNextOption,
        help:
            "Where the worker's ledger is, one case of signed transactions for each (receipts: the first one): sqlite, postgres."
    )
    var ledgers: [BenchCase.Ledger] = [.sqlite, .postgres]

    func run() async throws {
        let result = WorkerResult(cases: try await measure(), verification: try VerificationCost.measure())
        print(result.text)
        try ResultFile.write(result, to: options.output)
    }

    func measure() async throws -> [CaseResult] {
        try await options.measure(cases.map { ("worker, \($0.name)", options.run($0)) })
    }

    /// What is measured, in this order.
    var cases: [BenchCase] {
        var cases: [BenchCase] = []
        if signedTransactions > 0 {
            cases += ledgers.map { ledger in
                BenchCase(
                    evidence: .signedTransaction, ledger: ledger, inFlight: inFlight,
                    window: .submissions(signedTransactions))
            }
        }
        if receipts > 0 {
            cases += latencies.map { latency in
                BenchCase(
                    ledger: ledgers.first ?? .sqlite, latencyMilliseconds: latency, inFlight: inFlight,
                    receiptBytes: receiptBytes, window: .submissions(receipts))
            }
        }
        return cases
    }
}

/// Results, with what bounds a verification.
struct WorkerResult: Encodable {
    let cases: [CaseResult]
    let verification: VerificationCost

    /// For people.
    var text: String { ResultTable(results: cases).text + "\n" + verification.text }
}
