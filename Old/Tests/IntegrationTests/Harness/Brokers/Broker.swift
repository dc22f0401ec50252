import Foundation
import SystemTesting

/// A Kafka broker in a process of its own, with the four topics.
protocol Broker: Sendable {
    /// `host:port`.
    var bootstrapServers: String { get }
    /// librdkafka properties that clients need to get along with it.
    var properties: [String: String] { get }
}

extension Broker {
    /// Groups settle sooner with a short session, and an empty fetch of the mock waits its whole time.
    var properties: [String: String] { ["session.timeout.ms": "6000", "fetch.wait.max.ms": "10"] }
}

/// The topics' default names.
enum Topic {
    static let submitted = "receipts.submitted"
    static let granted = "purchases.granted"
    static let failed = "purchases.failed"
    static let quarantined = "receipts.quarantined"

    static let outputs = [granted, failed, quarantined]

    /// Creates them with `grantor topics create`, as soon as the broker answers.
    static func create(on broker: some Broker, in folder: URL) async throws {
        let program = try Executables.built("grantor")
        var attempt = 0
        try await eventually("the topics are created", within: .seconds(60)) {
            attempt += 1
            let process = try ChildProcess(
                program, ["topics", "create", "--partitions", "8", "--replicas", "1"],
                environment: ["GRANTOR_KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers], in: folder,
                name: "topics-\(attempt)")
            return try await process.exit(within: .seconds(30)) == .code(0) ? true : nil
        }
    }
}
