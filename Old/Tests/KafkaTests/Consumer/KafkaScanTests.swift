import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct KafkaScanTests {
    private func scan(_ bench: Bench) -> KafkaScan {
        KafkaScan(configuration: bench.client, group: "group", logger: bench.logger)
    }

    private func read(
        _ bench: Bench, _ stretches: [KafkaPartition: Range<Int64>]
    ) async throws -> [KafkaRecord] {
        var records: [KafkaRecord] = []
        try await scan(bench).read(stretches) { records += $0 }
        return records
    }

    @Test("Reads all partitions from end to end, each in order")
    func everything() async throws {
        let bench = try Bench(partitions: 4)
        try await bench.fill(0..<5000)
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        let records = try await read(bench, admin.offsets(of: [Bench.topic]))
        #expect(Set(records.map(\.text)) == Set((0..<5000).map { "\($0)" }))
        #expect(records.count == 5000)
        for index in 0..<4 as Range<Int32> {
            let offsets = records.filter { $0.partition.index == index }.map(\.offset)
            #expect(offsets == Array(0..<Int64(offsets.count)))
        }
    }

    @Test("Reads what was asked for and nothing that lies beside it")
    func stretch() async throws {
        let bench = try Bench()
        try await bench.fill(0..<300)
        #expect(try await read(bench, [bench.partition(0): 10..<13]).map(\.offset) == [10, 11, 12])
        #expect(try await read(bench, [bench.partition(0): 7..<7]).isEmpty)
        #expect(try await read(bench, [:]).isEmpty)
    }

    @Test("Ends at a partition's end, also when less is there than was asked for")
    func shorter() async throws {
        let bench = try Bench()
        try await bench.fill(0..<3)
        #expect(try await read(bench, [bench.partition(0): 0..<9]).count == 3)
    }

    @Test("Joins no group and moves no offset")
    func looksOn() async throws {
        let bench = try Bench()
        try await bench.fill(0..<10)
        let consumer = try bench.consumer()
        _ = try await consumer.hold(1)
        #expect(try await read(bench, [bench.partition(0): 0..<10]).count == 10)
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        #expect(try await admin.committedOffsets(of: "group", in: [bench.partition(0)]) == [:])
        #expect(try await consumer.read(10).count == 10, "the member was not disturbed")
        await consumer.close(deadline: .seconds(5))
    }

    @Test("What an operator's file sets for workers does not change what a scan is")
    func properties() async throws {
        let bench = try Bench()
        try await bench.fill(0..<5)
        var client = bench.client
        client.properties = [
            "enable.partition.eof": "false", "auto.offset.reset": "error", "session.timeout.ms": "6000",
        ]
        var count = 0
        try await KafkaScan(configuration: client, group: "group", logger: bench.logger)
            .read([bench.partition(0): 0..<9]) { count += $0.count }
        #expect(count == 5)
    }

    @Test("A cancelled scan ends at once")
    func cancelled() async throws {
        let bench = try Bench()
        try await bench.fill(0..<10)
        let reading = Task { try await read(bench, [bench.partition(0): 0..<10]) }
        reading.cancel()
        await #expect(throws: KafkaError.cancelled) { try await reading.value }
    }
}
