import AppStore
import Foundation
import Ledger
import Logging
import Purchases
import Testing

@testable import Fulfillment

@Suite("Deliveries in the pipeline", .timeLimit(.minutes(5)))
struct DeliveryStageTests {
    private static let service = InventoryService(
        url: "https://inventory.example.com/grants", secrets: [SigningSecret("0123456789abcdef")])

    private func bench(
        _ inventory: FakeInventory, ledger: SQLiteLedger? = nil, service: InventoryService? = service,
        logger: Logger? = nil
    ) async throws -> PipelineBench {
        try await PipelineBench(ledger: ledger, inventory: inventory, logger: logger) {
            RegisteredApp(app: $0, sharedSecrets: [], inventory: service)
        }
    }

    private func write(_ count: Int, to bench: PipelineBench, from first: Int = 0) throws {
        bench.source.write(
            try (first..<first + count).map {
                PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64)
            })
    }

    private func no(_ status: Int) -> DeliveryReply {
        .response(httpStatus: status, idempotencyKey: nil, retryAfter: nil, body: [])
    }

    @Test("Every grant is told once, and its event comes out after that")
    func told() async throws {
        let inventory = FakeInventory()
        let bench = try await bench(inventory)
        try write(200, to: bench)
        try await bench.run(untilDelivered: 200)
        #expect(inventory.said.count == 200)
        #expect(Set(inventory.said).count == 200)
        #expect(Set(bench.sink.events.map(\.id)).count == 200)
        #expect(bench.source.committed == 200)
        let told = Dictionary(inventory.calls.map { ($0.grantID, $0.body) }) { first, _ in first }
        #expect(Set(told.values) == Set(bench.sink.events.compactMap(\.value)))
    }

    @Test("An app without a service has no deliveries, and is told of nowhere")
    func none() async throws {
        let inventory = FakeInventory()
        let bench = try await bench(inventory, service: nil)
        try write(50, to: bench)
        try await bench.run(untilSettled: 50)
        #expect(inventory.calls.isEmpty)
        let snapshot = try await bench.ledger.snapshot()
        #expect(try await snapshot.deliveries(after: 0, limit: 10) == [])
        await snapshot.close()
    }

    @Test("A service that fails, at first from memory and then from the ledger, is told in the end")
    func fails() async throws {
        let inventory = FakeInventory { tries in
            tries <= 5 ? .response(httpStatus: 422, idempotencyKey: nil, retryAfter: nil, body: []) : nil
        }
        let bench = try await bench(inventory)
        try write(20, to: bench)
        try await bench.run(untilDelivered: 20)
        #expect(inventory.said.count == 20)
        #expect(inventory.calls.count == 120)
        let rows = try await bench.ledger.deliveries(bench.sink.events.map(\.id))
        #expect(rows.map(\.attempts) == Array(repeating: 6, count: 20))
        #expect(rows.allSatisfy { $0.history.attempts.map(\.detail) == Array(repeating: "HTTP 422.", count: 5) })
    }

    @Test("A service that is away stops nothing: submissions are settled, committed and verified meanwhile")
    func away() async throws {
        let inventory = FakeInventory { _ in .failed(.unreachable) }
        let bench = try await bench(inventory)
        try write(300, to: bench)
        try await bench.run { bench in
            bench.source.committed == 300 && !inventory.calls.isEmpty
        }
        let counts = try await bench.ledger.counts()
        #expect(counts.grants == 300 && counts.openDeliveries == 300 && counts.unpublished == 0)
        #expect(bench.sink.events.isEmpty)
        let again = FakeInventory()
        try await self.bench(again, ledger: bench.ledger).run(untilDelivered: 300)
        #expect(Set(again.said).count == 300)
    }

    @Test("What was open when the last service went out of the configuration is said, and is told once one is back")
    func leftOpen() async throws {
        let inventory = FakeInventory { _ in .failed(.unreachable) }
        let bench = try await bench(inventory)
        try write(30, to: bench)
        try await bench.run { $0.source.committed == 30 }
        let log = RecordingLog()
        let without = try await self.bench(FakeInventory(), ledger: bench.ledger, service: nil, logger: log.logger)
        try await without.run { _ in log.lines.contains { $0.level == .error } }
        #expect(log.lines.first { $0.level == .error }?.metadata["deliveries"] == "30")
        try await self.bench(FakeInventory(), ledger: bench.ledger).run(untilDelivered: 30)
    }

    @Test("A worker that ends in the middle of its calls leaves them to the next, with the same key")
    func cutShort() async throws {
        let inventory = FakeInventory()
        inventory.hang()
        let first = try await bench(inventory)
        try write(30, to: first)
        let running = Task { try await first.pipeline.run() }
        while inventory.calls.count < 30 { try await Task.sleep(for: .milliseconds(2)) }
        running.cancel()
        _ = await running.result
        let second = FakeInventory()
        let next = try await bench(second, ledger: first.ledger)
        try await next.run(untilDelivered: 30)
        #expect(Set(second.said) == Set(inventory.calls.map(\.grantID)))
        #expect(Set(next.sink.events.map(\.id)).count == 30)
    }

    @Test("A submission that asks for the event again while its delivery is open hears after the call")
    func joins() async throws {
        let inventory = FakeInventory { _ in .failed(.unreachable) }
        let bench = try await bench(inventory)
        let receipt = try bench.appStore.receipt().base64
        bench.source.write([PipelineBench.message("first", receipt: receipt)])
        try await bench.run { $0.source.committed == 1 }
        let again = FakeInventory()
        let next = try await self.bench(again, ledger: bench.ledger)
        next.source.write([PipelineBench.message("first", receipt: receipt)])
        try await next.run(untilDelivered: 1)
        #expect(again.said.count == 1)
        #expect(Set(next.sink.events.map(\.id)).count == 1)
    }
}
