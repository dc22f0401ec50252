import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(2)))
struct LeavingTests {
    /// The mock divides a new group after three seconds, and one that has a silent member after that member's session.
    private static let session = Duration.seconds(40)

    @Test(
        "A consumer that closes before its first assignment is no member afterwards",
        arguments: [KafkaConsumerConfiguration.Assignor.range, .cooperativeSticky])
    func closedWhileJoining(assignor: KafkaConsumerConfiguration.Assignor) async throws {
        let bench = try Bench(partitions: 2)
        let first = try bench.consumer(assignor: assignor) { $0.sessionTimeout = Self.session }
        // The request to join is under way as soon as the cluster answers; the mock takes its time to let anybody in.
        _ = try await bench.admin.describe()
        let started = ContinuousClock.now
        await first.close(deadline: .seconds(20))

        let second = try bench.consumer(assignor: assignor) { $0.sessionTimeout = Self.session }
        #expect(try await Set(second.assignment()) == [bench.partition(0), bench.partition(1)])
        #expect(ContinuousClock.now - started < Self.session / 2)
        await second.close(deadline: .seconds(10))
    }

    @Test("Where no broker answers there is nothing to leave, and nothing to wait for")
    func unreachable() async throws {
        var configuration = try Bench().consumerConfiguration()
        configuration.client.bootstrapServers = "127.0.0.1:1"
        let consumer = try KafkaConsumer(configuration: configuration, logger: try Bench().logger)
        let started = ContinuousClock.now
        await consumer.close(deadline: .seconds(30))
        #expect(ContinuousClock.now - started < .seconds(15))
    }
}
