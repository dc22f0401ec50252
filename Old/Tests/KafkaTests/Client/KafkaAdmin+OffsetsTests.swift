import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct KafkaAdminOffsetsTests {
    @Test("Partitions tell what they hold, empty ones too")
    func offsets() async throws {
        let bench = try Bench(partitions: 3)
        try await bench.fill(0..<100)
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        let offsets = try await admin.offsets(of: [Bench.topic])
        #expect(offsets.keys.sorted() == (0..<3).map { bench.partition($0) })
        #expect(offsets.values.allSatisfy { $0.lowerBound == 0 })
        #expect(offsets.values.reduce(0) { $0 + $1.count } == 100)
        #expect(try await admin.offsets(of: []) == [:])
    }

    @Test("A topic that is not there is named")
    func missing() async throws {
        let bench = try Bench()
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        await #expect {
            try await admin.offsets(of: ["elsewhere"])
        } throws: { error in
            guard let error = error as? KafkaError else { return false }
            return error.disposition == .reject && error.failure?.text.contains("elsewhere") == true
        }
    }

    @Test("A group tells what it committed, and nothing of partitions where it has not")
    func committed() async throws {
        let bench = try Bench(partitions: 2)
        try await bench.fill(0..<50)
        let consumer = try bench.consumer()
        _ = try await consumer.hold(2)
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        let both = [bench.partition(0), bench.partition(1)]
        #expect(try await admin.committedOffsets(of: "group", in: both) == [:])
        try await consumer.storeOffsets([bench.partition(1): 7])
        try await consumer.commit()
        #expect(try await admin.committedOffsets(of: "group", in: both) == [bench.partition(1): 7])
        #expect(try await admin.committedOffsets(of: "strangers", in: both) == [:])
        #expect(try await admin.committedOffsets(of: "group", in: []) == [:])
        await consumer.close(deadline: .seconds(5))
    }
}
