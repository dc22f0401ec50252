import Logging
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct LeavingTests {
    /// A consumer whose protocol is written down.
    private func consumer(_ configuration: KafkaConsumerConfiguration, _ log: RecordingLog) throws -> KafkaConsumer {
        var configuration = configuration
        configuration.client.properties["debug"] = "protocol"
        return try KafkaConsumer(configuration: configuration, logger: log.logger)
    }

    /// The mock divides a new group three seconds after the first request to join.
    @Test(
        "A consumer that closes before its first assignment tells its group that it leaves",
        arguments: KafkaConsumerConfiguration.Assignor.allCases)
    func closedWhileJoining(assignor: KafkaConsumerConfiguration.Assignor) async throws {
        let bench = try Bench(partitions: 2)
        let log = RecordingLog()
        let consumer = try consumer(bench.consumerConfiguration(assignor: assignor), log)
        while !log.lines.contains(where: { $0.contains("Sent JoinGroupRequest") }) { await Task.yield() }
        // On a machine that is busy the group may have answered by now; then it is left as ever.
        await consumer.close(deadline: .seconds(20))
        #expect(log.lines.contains { $0.contains("Sent LeaveGroupRequest") })
    }

    @Test("A member under a static name keeps its place")
    func staticMember() async throws {
        let bench = try Bench(partitions: 2)
        let log = RecordingLog()
        var configuration = bench.consumerConfiguration()
        configuration.groupInstanceID = "worker-1"
        let consumer = try consumer(configuration, log)
        while !log.lines.contains(where: { $0.contains("Sent JoinGroupRequest") }) { await Task.yield() }
        await consumer.close(deadline: .seconds(20))
        #expect(!log.lines.contains { $0.contains("LeaveGroup") })
    }

    @Test("Where no broker answers there is nothing to leave, and nothing to wait for")
    func unreachable() async throws {
        let bench = try Bench()
        var configuration = bench.consumerConfiguration()
        configuration.client.bootstrapServers = "127.0.0.1:1"
        let consumer = try KafkaConsumer(configuration: configuration, logger: bench.logger)
        // Beyond the suite's limit, which a close that waits would run into.
        await consumer.close(deadline: .seconds(600))
        #expect(try await consumer.next(maxRecords: 1, maxBytes: 1) == nil)
    }
}
