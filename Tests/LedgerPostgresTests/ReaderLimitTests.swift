import Ledger
import Testing

@testable import LedgerPostgres

@Suite("Somebody who only reads", .timeLimit(.minutes(5)))
struct ReaderLimitTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test("waits no longer than the limit, for a statement and for an opening")
    func limit() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let reading = configuration.reading(within: .milliseconds(800))
        #expect(reading.settings.call == .milliseconds(800) && reading.settings.statement == .milliseconds(600))
        #expect(reading.options.connectTimeout == .milliseconds(800) && reading.settings.opening == .milliseconds(800))
        let ledger = try PostgresLedger(reading)
        guard
            case .failure(.server(let state, _, _)) = Result(catching: { () throws(PostgresFailure) in
                try ledger.connection.run([PostgresStatement("SELECT pg_sleep(3600)")])
            })
        else {
            Issue.record("no limit")
            return
        }
        #expect(state == "57014")
        #expect(try ledger.find("anybody", limit: 5).hits.isEmpty)
    }

    @Test("asks each of several hosts within the limit")
    func hosts() throws {
        let configuration = try PostgresLedgerConfiguration(url: "postgres://u@127.0.0.1:1,127.0.0.1:2/d")
        let reading = configuration.reading(within: .milliseconds(800))
        #expect(reading.options.connectTimeout == .milliseconds(400))
    }

    @Test("asks no host once the time for all of them is over")
    func opening() throws {
        var configuration = try database.configuration()
        configuration.settings.opening = .zero
        let failure = #expect(throws: PostgresFailure.self) {
            try PostgresConnection(configuration.options, configuration.settings)
        }
        #expect(failure == .unreachable("no time is left for it"))
    }
}
