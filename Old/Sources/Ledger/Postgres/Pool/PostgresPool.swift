import Foundation
import Logging

/// A few connections, each on a thread of its own, and the line of work before them.
final class PostgresPool: Sendable {
    /// Most calls that wait for a connection. A worker makes a handful at a time; more means that nothing moves.
    static let maxWaiting = 256

    typealias Work = @Sendable (PooledConnection) -> Void

    private let line: WorkLine<Work>
    private let ended: ThreadsEnded
    private let configuration: PostgresLedgerConfiguration
    private let ledger: LedgerIdentity?
    private let logger: Logger

    /// Starts the threads. Connections are made when there is work for them.
    init(_ configuration: PostgresLedgerConfiguration, ledger: LedgerIdentity?, logger: Logger) {
        self.configuration = configuration
        self.ledger = ledger
        self.logger = logger
        let options = configuration.completedOptions
        let limits = configuration.limits
        let needsWrites = configuration.needsWrites
        let line = WorkLine<Work>(maxWaiting: Self.maxWaiting)
        let count = max(1, configuration.maxConnections)
        let ended = ThreadsEnded(count)
        for _ in 0..<count {
            PostgresThread.start {
                let connection = PooledConnection(
                    options, limits, ledger: ledger, needsWrites: needsWrites, logger: logger)
                while let work = line.next(notBefore: connection.rest) { work(connection) }
                connection.close()
                ended.note()
            }
        }
        self.line = line
        self.ended = ended
    }

    /// A pool of one connection to the same ledger.
    func alone() -> PostgresPool {
        var configuration = configuration
        configuration.maxConnections = 1
        return PostgresPool(configuration, ledger: ledger, logger: logger)
    }

    deinit {
        line.close()
    }

    /// Runs a unit of work on a connection, and again if it lost a race, and returns when it has ended. A cancelled task
    /// changes nothing about it.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Value
    ) async throws(LedgerError) -> Value {
        let result: Result<Value, LedgerError> = await withCheckedContinuation { continuation in
            do throws(WorkLine<Work>.Refusal) {
                try line.add { connection in
                    continuation.resume(returning: connection.perform(body).mapError { LedgerError($0) })
                }
            } catch {
                switch error {
                case .full:
                    continuation.resume(returning: .failure(.unavailable("too many calls wait for the database")))
                case .closed: continuation.resume(returning: .failure(.unusable("the ledger is closed")))
                }
            }
        }
        return try result.get()
    }

    /// Returns when all work has ended and all connections are closed.
    func close() async {
        line.close()
        await ended.wait()
    }
}
