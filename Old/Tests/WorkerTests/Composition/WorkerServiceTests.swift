import Fulfillment
import Ledger
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import Worker

@Suite("The worker as a service", .timeLimit(.minutes(5)))
struct WorkerServiceTests {
    private func service(
        _ ledger: LedgerSettings, _ logger: Logger
    ) throws -> (service: WorkerService, health: WorkerHealth) {
        let plan = WorkerPlan(
            kafka: WorkerPlan.Kafka(bootstrapServers: "127.0.0.1:1"), apple: AppleSettings(),
            roots: try AppleSettings().trustedRoots(), apps: AppRegistry([ConfiguredApp]()))
        let health = WorkerHealth()
        return (WorkerService(plan: plan, ledger: ledger, health: health, logger: logger), health)
    }

    @Test("A worker whose database is away waits for it, alive and not ready, and stops when it is asked to")
    func waits() async throws {
        let (lines, written) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(label: "test") { _ in NotingHandler { written.yield($0) } }
        let away = try #require(PostgresLedgerConfiguration(url: "postgres://worker@127.0.0.1:1/game"))
        let (service, health) = try service(.server(away), logger)
        let group = ServiceGroup(services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await line in lines where line.hasPrefix("The ledger is unavailable") { break }
            #expect(HealthReport(checks: health.liveness()).passed)
            #expect(health.readiness().filter { !$0.passed }.map(\.name) == ["partitions_assigned", "ledger"])
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test("A ledger that is none ends it")
    func noLedger() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("no ledger", to: "grantor.db")
        let (service, _) = try service(.file(path), Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        await #expect(throws: LedgerError.unusable("\(path) is not a ledger")) { try await service.run() }
    }
}
