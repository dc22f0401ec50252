import Foundation
import Kafka
import SystemTesting

/// The topics' default names.
enum Topic {
    static let submitted = "receipts.submitted"
    static let granted = "purchases.granted"
    static let failed = "purchases.failed"
    static let quarantined = "receipts.quarantined"

    static let outputs = [granted, failed, quarantined]
}

/// librdkafka's mock cluster in a process of its own.
///
/// Of the brokers that can be had without Docker it alone expires silent members, refuses stale generations, and can go
/// away and come back with its data and groups; it takes its faults as commands. It keeps 5 MiB a partition in memory and
/// drops older records silently, and it cannot advertise a proxy's address, so there is no proxy before it.
actor Broker {
    /// A group's silent member is given up after so long; the mock needs no more than 6 s and no less than 2.5 s.
    static let sessionMilliseconds = 6000

    nonisolated let bootstrapServers: String
    private let process: ChildProcess

    static func start(_ programs: Programs, partitions: Int, outputPartitions: Int, in folder: URL) async throws
        -> Broker
    {
        let topics = ["\(Topic.submitted):\(partitions)"] + Topic.outputs.map { "\($0):\(outputPartitions)" }
        let process = try ChildProcess(
            programs.broker, topics.flatMap { ["--topic", $0] },
            environment: ["LD_PRELOAD": programs.keptMemory.path], in: folder, name: "broker")
        let line = try await eventually("the broker tells its address", within: .seconds(20)) {
            try process.checkAlive()
            return process.output.lines.first
        }
        let prefix = "BOOTSTRAP "
        guard line.hasPrefix(prefix) else { throw ChildProcess.Failure(description: "the broker said \(line)") }
        return Broker(bootstrapServers: String(line.dropFirst(prefix.count)), process: process)
    }

    private init(bootstrapServers: String, process: ChildProcess) {
        self.bootstrapServers = bootstrapServers
        self.process = process
    }

    /// librdkafka properties that its clients need; an empty fetch of the mock waits its whole time.
    nonisolated static let properties = [
        "session.timeout.ms": String(sessionMilliseconds), "heartbeat.interval.ms": "1500", "fetch.wait.max.ms": "10",
    ]

    nonisolated var client: KafkaClientConfiguration {
        KafkaClientConfiguration(
            bootstrapServers: bootstrapServers, clientID: "chaos", statisticsInterval: .zero,
            properties: Self.properties)
    }

    /// Throws when the broker has ended, and with it every record; until then it waits.
    func watch() async throws {
        while true {
            try process.checkAlive()
            try await Task.sleep(for: .seconds(1))
        }
    }

    func goDown() async throws { try await command("down 1") }

    func comeUp() async throws { try await command("up 1") }

    /// Answers so much later from now on.
    func delay(milliseconds: Int) async throws { try await command("rtt 1 \(milliseconds)") }

    /// Closes the connections of the next requests to produce and to fetch.
    func disconnect() async throws {
        try await command("error \(KafkaRequestKind.produce.apiKey) \(KafkaInjectedError.disconnect.code) 2")
        try await command("error \(KafkaRequestKind.fetch.apiKey) \(KafkaInjectedError.disconnect.code) 3")
    }

    /// Refuses the next commits of offsets.
    func refuseCommits() async throws {
        try await command("error \(KafkaRequestKind.offsetCommit.apiKey) \(KafkaInjectedError.notCoordinator.code) 4")
    }

    private var line: Task<Void, any Error>?

    /// One command at a time; the answer is the next line.
    private func command(_ text: String) async throws {
        let before = line
        let task = Task {
            _ = await before?.result
            let lines = process.output.lines.count
            try process.write(text)
            let answer = try await eventually("the broker answers '\(text)'", within: .seconds(20)) {
                try process.checkAlive()
                return process.output.lines.dropFirst(lines).first
            }
            guard answer == "OK" else { throw ChildProcess.Failure(description: "the broker answered \(answer)") }
        }
        line = task
        try await task.value
    }
}
