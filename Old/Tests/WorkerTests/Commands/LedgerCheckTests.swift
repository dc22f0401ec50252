import Kafka
import Ledger
import LedgerConformance
import Logging
import PostgresTesting
import Purchases
import Testing

@testable import Worker

@Suite("What check says of the ledger")
struct LedgerCheckTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter partitionsWithOffsets: nil for brokers that do not say.
    private func results(
        _ settings: LedgerSettings, isAnyServed: Bool = false, partitionsWithOffsets: Int? = 0
    ) async -> [CheckResult] {
        await LedgerCheck(
            settings: settings, isAnyServed: isAnyServed,
            partitionsWithOffsets: { _ async throws(KafkaError) in
                guard let partitionsWithOffsets else { throw .resourcesExhausted("rd_kafka_new", errno: 0) }
                return partitionsWithOffsets
            }, logger: logger
        ).results()
    }

    private func ledger(in folder: TemporaryFolder, openDeliveries count: Int) async throws -> String {
        let path = folder.path + "/grantor.db"
        let ledger = try await SQLiteLedger.open(SQLiteLedgerConfiguration(path: path, migrate: true), logger: logger)
        let settlements = (0..<count).map {
            Samples.delivered(SubmissionID("s\($0)"), Samples.purchase(TransactionID("\($0)")))
        }
        _ = try await ledger.settle(settlements, quarantines: [], now: Samples.noon)
        try await ledger.close()
        return path
    }

    @Test("A ledger that is there is well")
    func good() async throws {
        let folder = try TemporaryFolder()
        let found = await results(.file(try await ledger(in: folder, openDeliveries: 0)))
        #expect(found.map(\.row) == [["ledger", "ok", "0 grants, 0 events unpublished, 0 deliveries open"]])
    }

    @Test("Open deliveries are well while an app has an inventory service, and a failure when none has")
    func unserved() async throws {
        let folder = try TemporaryFolder()
        let path = try await ledger(in: folder, openDeliveries: 2)
        #expect(await results(.file(path), isAnyServed: true).map(\.isGood) == [true])
        let found = await results(.file(path))
        #expect(found.map(\.name) == ["ledger", "open deliveries"])
        #expect(found.map(\.isGood) == [true, false])
        #expect(found.last?.detail.hasPrefix("2 paid purchases are neither told nor published") == true)
    }

    @Test("A database that takes no writes is a failure, whose reason is said; questions are answered by it")
    func readOnly() async throws {
        let server = try await PostgresServer.sharedServer()
        let url = server.url(schema: try await server.freshSchema())
        _ = try await PostgresLedger.migrate(try #require(PostgresLedgerConfiguration(url: url)))
        #expect(await results(.server(try #require(PostgresLedgerConfiguration(url: url)))).map(\.isGood) == [true])
        let readOnly = LedgerSettings.server(
            try #require(PostgresLedgerConfiguration(url: url + "%20-cdefault_transaction_read_only%3Don")))
        let found = await results(readOnly)
        #expect(found.map(\.isGood) == [false])
        #expect(found.first?.detail.contains("PostgreSQL takes no writes") == true)
        #expect(try await LedgerOpener.configured.reader(readOnly, logger).counts().grants == 0)
    }

    @Test("A file that is not there yet is made by run")
    func noFile() async throws {
        let folder = try TemporaryFolder()
        let found = await results(.file(folder.path + "/none.db"))
        #expect(found.map(\.row) == [["ledger", "ok", "none yet; grantor run makes it"]])
    }

    @Test("A ledger without anything is a failure beside a group with offsets, whether its file is there or not")
    func forgotten() async throws {
        let folder = try TemporaryFolder()
        let none = LedgerSettings.file(folder.path + "/none.db")
        #expect(await results(none, partitionsWithOffsets: 12).map(\.isGood) == [true, false])
        let empty = LedgerSettings.file(try await ledger(in: folder, openDeliveries: 0))
        let found = await results(empty, partitionsWithOffsets: 12)
        #expect(found.map(\.name) == ["ledger", "ledger and group"])
        #expect(found.last?.isGood == false)
        #expect(found.last?.detail.contains("offsets in 12 partitions") == true)
    }

    @Test("An empty ledger is a failure, too, where the brokers do not say whether its group has worked before")
    func groupUnknown() async throws {
        let folder = try TemporaryFolder()
        let none = LedgerSettings.file(folder.path + "/none.db")
        let empty = LedgerSettings.file(try await ledger(in: folder, openDeliveries: 0))
        for settings in [none, empty] {
            let found = await results(settings, partitionsWithOffsets: nil)
            #expect(found.map(\.isGood) == [true, false])
            #expect(
                found.last?.detail.hasPrefix("the ledger is empty, and whether its group has worked before") == true)
        }
    }

    @Test("A ledger that holds something goes with a group that has offsets")
    func goesWithItsGroup() async throws {
        let folder = try TemporaryFolder()
        let path = try await ledger(in: folder, openDeliveries: 1)
        #expect(await results(.file(path), isAnyServed: true, partitionsWithOffsets: 12).map(\.isGood) == [true])
    }

    @Test("What is no ledger is a failure")
    func noLedger() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("no ledger", to: "grantor.db")
        #expect(await results(.file(path)).map(\.isGood) == [false])
    }
}
