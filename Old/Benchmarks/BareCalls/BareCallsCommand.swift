import ArgumentParser
import Foundation

/// `grantor-bench bare-calls`: the limit of a worker's calls, measured in a process of its own. Prints ``BareCost`` as JSON.
struct BareCallsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-calls", abstract: "Calls verifyReceipt by libcurl and nothing else.", shouldDisplay: false)

    @Option(help: "The whole URL of verifyReceipt.")
    var url: String

    @Option(help: "PEM of who vouches for the server.")
    var caFile: String

    @Option(help: "File with what each call sends.")
    var body: String

    @Option(help: "Calls in flight at once.")
    var inFlight: Int

    @Option(help: "Calls that do not count.")
    var warmUp: Int

    @Option(help: "Calls that count.")
    var calls: Int

    @Option(help: "Calls one after another over one connection, measured besides.")
    var hotCalls = 0

    func run() throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: body)))
        let loop = try BareLoop(url: url, caFile: caFile, body: bytes, inFlight: inFlight)
        let cost = try loop.run(warmUp: warmUp, calls: calls)
        var hot: Double?
        if hotCalls > 0 {
            hot = try BareTransfer(url: url, caFile: caFile, body: bytes).hotMicroseconds(calls: hotCalls)
        }
        print(String(decoding: try JSONEncoder().encode(BareCost(loop: cost, hotMicroseconds: hot)), as: UTF8.self))
    }
}

/// What libcurl alone takes.
struct BareCost: Codable, Sendable {
    let loop: BareLoopCost
    /// CPU time of one call among calls that follow each other over one connection; nil if that was not measured.
    let hotMicroseconds: Double?
}
