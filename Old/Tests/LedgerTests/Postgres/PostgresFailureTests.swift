import Dispatch
import Foundation
import LedgerConformance
import PostgresTesting
import Purchases
import Testing

@testable import Ledger

/// What a worker meets when the server or the network fails under it.
@Suite(.timeLimit(.minutes(5))) struct PostgresFailureTests {
    private static let grant = Samples.grant("s1", Samples.purchase("1"))
    private static let event = Samples.event(Samples.purchase("1"))
    /// A port that is free now can be somebody else's when the server starts; these are reached by their socket.
    private static let socketOnly = ["listen_addresses": "''"]

    @Test func aBackendThatIsKilledBeforeTheCommitLeavesNothing() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        let gate = try await HeadGate(place)
        async let settling = Result.of { try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon) }
        try await gate.terminateWaiting()
        #expect(isUnavailable(await settling))
        await gate.open()
        #expect(try await ledger.counts().grants == 0)
        let again = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        #expect(again.outcomes == [.granted(events: [Self.event], created: 1)])
        #expect(again.added?.map(\.sequence) == [1])
        await ledger.close()
    }

    @Test func aCommitWhoseAnswerIsLostIsFoundAgain() async throws {
        let server = try await PostgresServer.start(settings: Self.socketOnly)
        let place = try await TemporaryPostgres(on: server)
        let ledger = try await place.open()
        // A commit is on the disk before it waits for a standby, and here waits for ever.
        try await server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try await server.query("SELECT pg_reload_conf()")
        async let settling = Result.of { try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon) }
        try await place.terminate(where: "wait_event = 'SyncRep'")
        #expect(isUnavailable(await settling))
        try await server.query("ALTER SYSTEM RESET synchronous_standby_names")
        try await server.query("SELECT pg_reload_conf()")
        let again = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        #expect(again.outcomes == [.answeredAgain(events: [Self.event])])
        #expect(try await ledger.counts().grants == 1)
        #expect(try await ledger.outbox(after: 0, limit: 10).map(\.event.id) == [Self.event, Self.event])
        await ledger.close()
        try await server.close()
    }

    @Test(arguments: [true, false])
    func settlingGoesOnAfterTheServerRestarted(crashing: Bool) async throws {
        let server = try await PostgresServer.start(settings: Self.socketOnly)
        let place = try await TemporaryPostgres(on: server)
        let ledger = try await place.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<3 {
                group.addTask {
                    for index in 0..<60 {
                        let purchase = Samples.purchase(TransactionID("\(worker * 1000 + index)"))
                        let settlement = Samples.grant(SubmissionID("\(worker)-\(index)"), purchase)
                        try await Self.untilAvailable {
                            _ = try await ledger.settle([settlement], quarantines: [], now: Samples.noon)
                        }
                    }
                }
            }
            group.addTask { try await server.restart(crashing: crashing) }
            try await group.waitForAll()
        }
        let counts = try await ledger.counts()
        #expect(counts.grants == 180)
        #expect(counts.submissions == [.granted: 180])
        let entries = try await ledger.outbox(after: 0, limit: 1000)
        #expect(entries.map(\.sequence) == (1...Int64(entries.count)).map { $0 })
        #expect(Set(entries.map(\.event.id)).count == 180)
        await ledger.close()
        try await server.close()
    }

    @Test func aSchemaThatIsAwayForAWhileIsWaitedForAndNamed() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open { $0.maxConnections = 1 }
        _ = try await ledger.takeRelay("first", for: .seconds(60), now: Samples.noon)
        try await place.server.query("ALTER SCHEMA \(place.schema) RENAME TO \(place.schema)_away")
        // The first call finds no table, the next what is behind it.
        for expected in ["42P01", "no schema of the search path exists"] {
            let settled = await Result.of { try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon) }
            guard case .failure(LedgerError.unavailable(let cause)) = settled else {
                Issue.record("\(settled)")
                continue
            }
            #expect(cause.contains(expected), "\(cause)")
        }
        try await place.server.query("ALTER SCHEMA \(place.schema)_away RENAME TO \(place.schema)")
        try await Self.untilAvailable {
            _ = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        }
        #expect(try await ledger.counts().grants == 1)
        await ledger.close()
    }

    @Test func aLockThatAnotherKeepsEndsTheCallInTime() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open { $0.lockTimeout = .milliseconds(50) }
        let gate = try await HeadGate(place)
        let result = await Result.of { try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon) }
        #expect(isUnavailable(result, "55P03"))
        await gate.open()
        _ = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        await ledger.close()
    }

    @Test func aStatementThatTakesTooLongIsEnded() async throws {
        let place = try await TemporaryPostgres()
        // The limit holds for what an opening asks, too.
        let ledger = try await Self.untilAvailable {
            try await place.open {
                $0.lockTimeout = .zero
                $0.statementTimeout = .milliseconds(50)
            }
        }
        let gate = try await HeadGate(place)
        let result = await Result.of { try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon) }
        #expect(isUnavailable(result, "57014"))
        await gate.open()
        await ledger.close()
    }

    @Test func aServerThatFallsSilentIsGivenUp() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await Self.untilAvailable {
            try await place.open {
                $0.maxConnections = 1
                $0.operationTimeout = .milliseconds(300)
            }
        }
        let process = try await Self.untilAvailable {
            try await ledger.pool.run { connection throws(PostgresFailure) in
                try connection.run(PostgresCommand(PostgresStatement(once: "SELECT pg_backend_pid()::bigint")))
                    .rows { row throws(PostgresFailure) in pid_t(try row.integer(0)) }[0]
            }
        }
        kill(process, SIGSTOP)
        let result = await Result.of { try await ledger.counts() }
        kill(process, SIGCONT)
        #expect(isUnavailable(result, "no answer in time"))
        let counts = try await Self.untilAvailable { try await ledger.counts() }
        #expect(counts.grants == 0, "a later call has a new connection")
        await ledger.close()
    }

    @Test func aTransactionThatIsStoppedHalfwayKeepsNobodyForLong() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        let gate = try await HeadGate(place) { $0.idleInTransactionTimeout = .milliseconds(100) }
        // Waits until the server has ended the gate's transaction.
        _ = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        await gate.open()
        await ledger.close()
    }

    /// It answers questions all the same.
    @Test func aWriteOnAServerThatOnlyReadsIsUnavailable() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open(place.url + "%20-cdefault_transaction_read_only%3Don") {
            $0.needsWrites = false
        }
        let result = await Result.of { try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon) }
        #expect(isUnavailable(result, "25006"))
        #expect(try await ledger.counts().grants == 0)
        await ledger.close()
    }

    @Test func aWorkerWaitsAtAStandbyUntilItIsThePrimary() async throws {
        let server = try await PostgresServer.start(settings: Self.socketOnly)
        let place = try await TemporaryPostgres(on: server)
        let ledger = try await place.open { $0.maxConnections = 1 }
        _ = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        try await server.query("COPY (SELECT 1 WHERE false) TO '\(server.folder)/data/standby.signal'")
        try await server.restart()
        #expect(isUnavailable(await Result.of { try await place.open() }, "this server is a standby"))
        #expect(isUnavailable(await Result.of { try await Self.whileLost { try await ledger.counts() } }, "a standby"))
        let reader = try await place.open { $0.needsWrites = false }
        #expect(try await reader.counts().grants == 1)
        await reader.close()
        try await server.query("SELECT pg_promote()")
        try await place.open().close()
        try await Self.untilAvailable {
            _ = try await ledger.settle(
                [Samples.grant("s2", Samples.purchase("2"))], quarantines: [], now: Samples.noon)
        }
        #expect(try await ledger.counts().grants == 2)
        await ledger.close()
        try await server.close()
    }

    /// Kept, it would take no writes for as long as it lasts, though the server takes them again.
    @Test func aConnectionFromAReadOnlyTimeIsNotKept() async throws {
        let server = try await PostgresServer.start(settings: Self.socketOnly)
        let place = try await TemporaryPostgres(on: server)
        let ledger = try await place.open { $0.maxConnections = 1 }
        try await server.query("ALTER DATABASE postgres SET default_transaction_read_only = on")
        #expect(isUnavailable(await Result.of { try await ledger.counts() }, "default_transaction_read_only is on"))
        try await server.query(
            "BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT")
        try await Self.untilAvailable {
            _ = try await ledger.settle([Self.grant], quarantines: [], now: Samples.noon)
        }
        await ledger.close()
        try await server.close()
    }

    @Test func whatABatchHoldsIsInNoErrorsText() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        try await place.query("ALTER TABLE submissions ADD CHECK (user_id <> 'canary')")
        let result = await Result.of {
            try await ledger.settle([Samples.failure("s1", user: "canary")], quarantines: [], now: Samples.noon)
        }
        guard case .failure(let error) = result else {
            Issue.record("settled")
            return
        }
        #expect(!"\(error)".contains("canary"))
        #expect("\(error)".contains("23514"))
        await ledger.close()
    }

    /// The first call may still meet the end of the connection that there was.
    private static func whileLost<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            try Task.checkCancellation()
            do {
                return try await body()
            } catch LedgerError.unavailable(let cause) where cause.contains("connection was lost") {
                await Task.yield()
            }
        }
    }

    private static func untilAvailable<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            try Task.checkCancellation()
            do {
                return try await body()
            } catch LedgerError.unavailable {
                await Task.yield()
            }
        }
    }

    private func isUnavailable<Value>(_ result: Result<Value, any Error>, _ text: String = "") -> Bool {
        guard case .failure(LedgerError.unavailable(let cause)) = result else { return false }
        return text.isEmpty || cause.contains(text)
    }
}

/// Keeps the outbox's head from everybody until it is opened: whoever settles waits at the last moment before the commit.
private final class HeadGate: Sendable {
    private let ledger: PostgresLedger
    private let place: TemporaryPostgres
    private let semaphore = DispatchSemaphore(value: 0)
    private let holding: Task<Void, any Error>

    init(
        _ place: TemporaryPostgres, _ change: (inout PostgresLedgerConfiguration) -> Void = { _ in }
    ) async throws {
        self.place = place
        let ledger = try await place.open(nil, change)
        self.ledger = ledger
        let semaphore = semaphore
        let (taken, continuation) = AsyncStream.makeStream(of: Void.self)
        holding = Task {
            try await ledger.pool.run { connection throws(PostgresFailure) in
                try connection.run([
                    PostgresCommand(.begin),
                    PostgresCommand(PostgresStatement(once: "SELECT FROM outbox_head FOR UPDATE")),
                ])
                continuation.yield()
                // The connection's own thread waits, nobody else's.
                semaphore.wait()
                connection.rollBack()
            }
        }
        for await _ in taken { break }
    }

    func open() async {
        semaphore.signal()
        _ = await holding.result
        await ledger.close()
    }

    /// Kills the backend that waits for the head.
    func terminateWaiting() async throws {
        try await place.terminate(where: "wait_event_type = 'Lock'")
    }
}

extension TemporaryPostgres {
    /// Kills a backend of this ledger as soon as there is one that waits so.
    fileprivate func terminate(where condition: String) async throws {
        while true {
            let killed = try await query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE \(condition) AND pid <> pg_backend_pid()
                    AND (wait_event = 'SyncRep' OR EXISTS (
                        SELECT FROM pg_locks l WHERE l.pid = pg_stat_activity.pid AND l.relation = 'outbox_head'::regclass))
                """)
            if !killed.isEmpty { return }
        }
    }
}

extension Result where Failure == any Error {
    /// What a call came to.
    static func of(_ body: () async throws -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
