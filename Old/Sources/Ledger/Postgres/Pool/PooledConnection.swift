import Glibc
import Logging

/// A thread's connection: made when it is needed, replaced when it broke, and rested after it could not be made.
final class PooledConnection {
    /// Most times that one unit of work is tried when others are quicker.
    static let maxAttempts = 5

    private let options: PostgresOptions
    private let limits: PostgresLimits
    private let ledger: LedgerIdentity?
    private let needsWrites: Bool
    private let logger: Logger
    private var connection: PostgresConnection?
    private var backoff = Backoff.reconnecting
    /// Moment before which no connection is to be tried again; nil while all is well.
    private(set) var rest: ContinuousClock.Instant?

    /// - Parameters:
    ///   - ledger: the ledger that every connection has to lead to; nil to take any.
    ///   - needsWrites: whether a connection that takes none is not kept.
    init(
        _ options: PostgresOptions, _ limits: PostgresLimits, ledger: LedgerIdentity?, needsWrites: Bool, logger: Logger
    ) {
        self.options = options
        self.limits = limits
        self.ledger = ledger
        self.needsWrites = needsWrites
        self.logger = logger
    }

    /// Does a unit of work, and all of it again if it lost a race.
    func perform<Value>(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Value
    ) -> Result<Value, PostgresFailure> {
        var races = Backoff.racing
        while true {
            do throws(PostgresFailure) {
                let connection = try usable()
                connection.allow(limits.operation)
                do throws(PostgresFailure) {
                    return .success(try body(connection))
                } catch {
                    connection.rollBack()
                    // Where tables are missing, the next connection says why.
                    if connection.isBroken || error.findsNoTables { close() }
                    throw error
                }
            } catch {
                guard error.isRace, races.failures + 1 < Self.maxAttempts else { return .failure(error) }
                usleep(UInt32(clamping: races.next(.random(in: 0..<1)).wholeMillisecondsUp * 1000))
            }
        }
    }

    func close() {
        connection = nil
    }

    private func usable() throws(PostgresFailure) -> PostgresConnection {
        if let connection, connection.isAlive() { return connection }
        connection = nil
        do throws(PostgresFailure) {
            let made = try PostgresConnection(options.rotated(by: backoff.failures), within: limits.connect)
            let session = try PostgresSession(made, limits)
            if let ledger {
                // Rights may be changed, or a backup put back, under the worker.
                guard let found = session.ledger else {
                    throw .unusable("the schema that is found first holds no ledger, or none that this user may use")
                }
                guard found.id == ledger.id else {
                    throw .damaged("the database no longer holds the ledger that it held before")
                }
            }
            // Kept, a connection to what was the primary would stay one to a standby.
            if needsWrites { try session.checkWrites() }
            if backoff.failures > 0 { logger.notice("PostgreSQL is back") }
            backoff = .reconnecting
            rest = nil
            connection = made
            return made
        } catch {
            if backoff.failures == 0 {
                logger.warning("PostgreSQL cannot be used", metadata: ["cause": "\(LedgerError(error))"])
            }
            rest = ContinuousClock.now.advanced(by: backoff.next(.random(in: 0..<1)))
            throw error
        }
    }
}

/// How long to wait after the n-th failure in a row: up to twice as long each time, any length up to that.
struct Backoff: Hashable, Sendable {
    let base: Duration
    let cap: Duration
    private(set) var failures = 0

    static let reconnecting = Backoff(base: .milliseconds(100), cap: .seconds(5))
    static let racing = Backoff(base: .milliseconds(5), cap: .milliseconds(100))

    init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    /// Counts a failure.
    ///
    /// - Parameter random: from 0 up to 1.
    mutating func next(_ random: Double) -> Duration {
        let longest = min(cap, base * (1 << min(failures, 16)))
        failures += 1
        return longest * (0.5 + random / 2)
    }
}
