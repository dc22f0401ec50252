import Foundation
import SystemTesting

/// librdkafka's mock cluster of one broker. Keeps 5 MiB a partition in memory; older records are dropped silently.
struct MockBroker: Broker {
    let bootstrapServers: String
    private let process: ChildProcess

    static func start(in folder: URL, partitions: Int = 24) async throws -> MockBroker {
        let topics = ["\(Topic.submitted):\(partitions)"] + Topic.outputs.map { "\($0):4" }
        let process = try ChildProcess(
            Executables.built("kafka-mock-broker"), topics.flatMap { ["--topic", $0] },
            // Or members that come back could be taken for new ones.
            environment: ["LD_PRELOAD": Executables.built("libKeptMemory.so").path], in: folder, name: "mock-broker")
        let line = try await eventually("the mock broker tells its address", within: .seconds(10)) {
            try process.checkAlive()
            return process.output.lines.first
        }
        let prefix = "BOOTSTRAP "
        guard line.hasPrefix(prefix) else { throw ChildProcess.Failure(description: "the mock broker said \(line)") }
        return MockBroker(bootstrapServers: String(line.dropFirst(prefix.count)), process: process)
    }

    /// Closes the broker's port and every connection.
    func goDown() async throws {
        try await command("down 1")
    }

    /// Takes `goDown` back.
    func comeUp() async throws {
        try await command("up 1")
    }

    private func command(_ line: String) async throws {
        let before = process.output.lines.count
        try process.write(line)
        let answer = try await eventually("the mock broker answers '\(line)'", within: .seconds(10)) {
            try process.checkAlive()
            return process.output.lines.dropFirst(before).first
        }
        guard answer == "OK" else { throw ChildProcess.Failure(description: "the mock broker answered \(answer)") }
    }
}
