import ArgumentParser
import Foundation

/// `grantor-chaos scale`.
struct ScaleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale", abstract: "Measures how more workers share the load, and what a rebalance costs.",
        discussion: """
            Workers, broker, PostgreSQL, App Store and load share this machine, so that ratios say little once its \
            processors are busy; the load of each run is printed beside it.
            """)

    @Option(parsing: .upToNextOption, help: "Numbers of workers.")
    var workers = [1, 2, 4]

    @Option(parsing: .upToNextOption, help: "Assignment strategies to measure a rebalance with.")
    var strategies = ["range", "roundrobin", "cooperative-sticky"]

    @Option(help: "Milliseconds that Apple takes.")
    var latency = 250

    @Option(help: "Calls in flight, of each worker.")
    var inFlight = 250

    @Option(help: "Seconds that are measured of each run.")
    var seconds = 20

    func validate() throws {
        guard workers.allSatisfy((1...8).contains) else { throw ValidationError("--workers must be from 1 to 8") }
        guard latency > 0, inFlight > 0, seconds > 0 else { throw ValidationError("numbers must be above 0") }
    }

    func run() async throws {
        var table = TextTable()
        table.add(title: "settled per second, \(latency) ms, \(inFlight) in flight per worker")
        var first: Double?
        for count in workers {
            say("\(count) workers ...")
            let processors = Processors()
            let rate = try await play(nil) { try await $0.throughput(workers: count) }
            let ceiling = count * inFlight * 1000 / latency
            let ratio = first.map { String(format: ", %.2f times the first", rate / $0) } ?? ""
            table.add(
                "\(count) workers",
                String(format: "%.0f of %d at most", rate, ceiling) + ratio
                    + String(format: "; processors busy %.0f %%", processors.busyPercent()))
            first = first ?? rate
        }
        table.add(title: "a third worker joins two under load: longest stop of a partition")
        for strategy in strategies {
            say("rebalance, \(strategy) ...")
            let cost = try await play(strategy) { try await $0.rebalance() }
            table.add(
                strategy,
                "\(secondsText(cost.longestKept)) of the \(cost.kept) that stay, \(secondsText(cost.longestMoved)) of those "
                    + "that move; before, \(secondsText(cost.longestBefore)) of any")
        }
        say(table.text)
    }

    /// One run in a folder of its own, which stays if it fails.
    private func play<Result>(
        _ strategy: String?, _ body: (ScaleRun) async throws -> Result
    ) async throws -> Result {
        let folder = try RunFolder()
        var options = ScaleRun.Options()
        options.latencyMilliseconds = latency
        options.inFlight = inFlight
        options.length = .seconds(seconds)
        // The default needs no variable.
        options.strategy = strategy == "range" ? nil : strategy
        do {
            let result = try await body(ScaleRun(options: options, folder: folder.url))
            try folder.remove()
            return result
        } catch {
            say("logs: \(folder.url.path)")
            throw error
        }
    }
}

/// How busy this machine's processors are, all programs together.
struct Processors {
    private let start = Self.times()

    /// Since this was made.
    func busyPercent() -> Double {
        let (busy, all) = Self.times()
        return 100 * Double(busy - start.busy) / Double(max(all - start.all, 1))
    }

    /// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
    private static func times() -> (busy: Int, all: Int) {
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").first?.split(separator: " ") ?? []
        let fields = words.dropFirst().prefix(8).compactMap { Int($0) }
        guard fields.count == 8 else { return (0, 0) }
        let all = fields.reduce(0, +)
        return (all - fields[3] - fields[4], all)
    }
}
