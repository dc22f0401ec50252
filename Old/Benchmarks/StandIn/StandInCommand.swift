import ArgumentParser
import Foundation

/// `grantor-bench stand-in`: the process that answers for Apple while a worker is measured.
///
/// Prints its port and runs until its input ends, and so no longer than the process that started it.
struct StandInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stand-in", abstract: "Answers verifyReceipt with as little work as can be.",
        shouldDisplay: false)

    @Option(help: "Folder of the authority that vouches for it.")
    var authority: String

    @Option(help: "Milliseconds that each call takes.")
    var latency = 0

    @Option(help: "The app that receipts are attested to.")
    var bundleID: String

    func run() async throws {
        let standIn = try await StandIn.open(
            authority: URL(filePath: authority), latency: .milliseconds(latency), bundleID: bundleID)
        print("PORT \(standIn.port)")
        fflush(nil)
        while readLine() != nil {}
        try await standIn.close()
    }
}
