import AppStore
import Foundation
import Fulfillment
import Glibc
import HTTPTransport
import Kafka
import Logging
import Purchases

/// The clients of one process, each by itself.
struct ClientsBench {
    /// Bytes of an event, as a granted purchase has.
    private static let eventBytes = 600
    /// Records that are sent or taken at once, as a worker does.
    private static let batch = 500
    private static let batchBytes = 4 << 20

    private let stage: BenchStage
    private let source: SubmissionSource
    private let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }

    init(_ stage: BenchStage) throws {
        self.stage = stage
        source = try SubmissionSource(stage.scenario, authority: stage.authority)
    }

    /// Until all are acknowledged.
    func produce(_ count: Int) async throws -> StageCost {
        let value = [UInt8](repeating: UInt8(ascii: "a"), count: Self.eventBytes)
        let batch = (0..<Self.batch).map { number in
            KafkaProducerRecord(topic: "purchases.granted", key: Array("user-\(number)".utf8), value: value)
        }
        let producer = try producer()
        try await BenchClients.send(batch, by: producer)
        let cost = try await Self.cost("produce an event of \(Self.eventBytes) bytes", Self.whole(count)) {
            for _ in 0..<(Self.whole(count) / Self.batch) {
                try await BenchClients.send(batch, by: producer)
            }
        }
        await producer.close(deadline: .seconds(2))
        return cost
    }

    /// From the first records, which the consumer holds ready when it has joined its group, to the last.
    func consume(_ count: Int) async throws -> StageCost {
        let producer = try producer()
        for first in stride(from: 0, to: count, by: Self.batch) {
            try await BenchClients.send(try source.records(first..<min(first + Self.batch, count)), by: producer)
        }
        await producer.close(deadline: .seconds(2))
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(
                client: client, groupID: "clients", topics: ["receipts.submitted"]),
            logger: logger)
        var taken = try await Self.take(1, of: consumer)
        let cost = try await Self.cost("consume a receipt", count) {
            while taken < count { taken += try await Self.take(Self.batch, of: consumer) }
        }
        await consumer.close(deadline: .seconds(2))
        return cost
    }

    /// With as many calls in flight as a worker has.
    func call(_ count: Int) async throws -> StageCost {
        var configuration = HTTPTransportConfiguration()
        configuration.caFile = stage.caFile.path
        configuration.maxConnections = stage.scenario.inFlight
        configuration.maxWaiting = stage.scenario.inFlight
        let transport = try HTTPTransport(configuration: configuration, logger: logger)
        let hosts = AppleEndpoint.Hosts(verifyReceipt: stage.verifyReceiptURL, serverAPI: stage.verifyReceiptURL)
        let endpoint = AppleEndpoint(transport: transport, production: hosts, sandbox: hosts)
        let body = RequestBody(BenchStage.callBody(source.model))
        let callers = min(stage.scenario.inFlight, max(1, count))
        let each = max(1, count / callers)
        // Connections stand before it counts.
        try await Self.call(2, by: callers, body, endpoint)
        let cost = try await Self.cost("call verifyReceipt by the transport", each * callers) {
            try await Self.call(each, by: callers, body, endpoint)
        }
        await transport.shutdown()
        return cost
    }

    /// The limit of ``call(_:)``.
    func bareCall(_ count: Int) async throws -> StageCost {
        let cost = try await stage.bareCalls(
            count, warmUp: stage.scenario.inFlight * 2, hotCalls: 0, receipt: source.model)
        return StageCost(stage: "call verifyReceipt by libcurl alone", microseconds: cost.loop.microseconds)
    }

    private var client: KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: stage.bootstrap, properties: BenchPrograms.properties)
    }

    private func producer() throws -> KafkaProducer { try BenchClients.producer(client, linger: .milliseconds(5)) }

    /// So many calls one after another, by each of so many callers at once.
    private static func call(
        _ each: Int, by callers: Int, _ body: RequestBody, _ endpoint: AppleEndpoint
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    let isAnswered = await withCheckedContinuation { caller in
                        call(each, body, endpoint) { caller.resume(returning: $0) }
                    }
                    guard isAnswered else { throw BenchFailure(description: "a call was not answered") }
                }
            }
            try await group.waitForAll()
        }
    }

    /// So many calls, each where the answer to the one before it comes in, as a worker's calls follow each other.
    private static func call(
        _ count: Int, _ body: RequestBody, _ endpoint: AppleEndpoint, then: @escaping @Sendable (Bool) -> Void
    ) {
        endpoint.verifyReceipt(.production, body: body, isFresh: false) { reply in
            guard case .response(200, _, _) = reply else { return then(false) }
            if count > 1 { call(count - 1, body, endpoint, then: then) } else { then(true) }
        }
    }

    /// Waits for records and takes them.
    private static func take(_ count: Int, of consumer: KafkaConsumer) async throws -> Int {
        while let event = try await BenchClients.next(of: consumer, maxRecords: count, maxBytes: batchBytes) {
            if case .records(let records) = event { return records.count }
        }
        throw BenchFailure(description: "the consumer ended")
    }

    /// The next lower count of whole batches.
    private static func whole(_ count: Int) -> Int { max(1, count / batch) * batch }

    /// CPU time of this process, with all its threads (clock(3), whose unit is the microsecond).
    private static func cost(
        _ stage: String, _ count: Int, _ body: () async throws -> Void
    ) async throws -> StageCost {
        let start = clock()
        try await body()
        return StageCost(stage: stage, microseconds: Double(clock() - start) / Double(count))
    }
}
