import Configuration
import Contract
import Ledger
import LedgerSQLite
import Logging
import Scheduling
import Threading

/// Opens the ledger that the configuration names.
struct LedgerOpening: Sendable {
    static let shortestPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(5)
    /// Tries between two lines of the log.
    static let triesPerLine = 12

    let settings: LedgerSettings

    /// A connection for the calling thread.
    func open() throws(LedgerError) -> any LedgerConnection {
        switch settings {
        case .sqlite(let path): return try SQLiteLedger(SQLiteLedgerConfiguration(path: path))
        }
    }

    /// Makes an embedded ledger where there is none, and waits for as long as it is not available: a worker that starts while
    /// its database restarts, or its disk is full, has nothing to do but wait.
    ///
    /// - Returns: Its id; nil if the worker is to stop.
    /// - Throws: the error that waiting does not mend.
    func wait(_ events: Mailbox<ProcessEvent>, logger: Logger) throws(LedgerError) -> String? {
        var backoff = Self.shortestPause
        var tries = 0
        while true {
            do throws(LedgerError) {
                switch settings {
                case .sqlite(let path): try SQLiteLedger.migrate(SQLiteLedgerConfiguration(path: path))
                }
                let id = try open().identity()
                if tries > 0 { logger.info("The ledger is available", metadata: ["tries": "\(tries)"]) }
                return id
            } catch {
                guard case .unavailable(let detail) = error else { throw error }
                if tries % Self.triesPerLine == 0 {
                    logger.warning(
                        "The ledger is unavailable; the worker waits for it before it joins its group",
                        metadata: ["cause": detail, "tries": "\(tries + 1)"])
                }
            }
            tries += 1
            if isStopped(events, within: backoff) { return nil }
            backoff = min(backoff * 2, Self.longestPause)
        }
    }

    /// Waits for a time, or until the process is to stop.
    private func isStopped(_ events: Mailbox<ProcessEvent>, within time: Duration) -> Bool {
        let until = Instant.now + time
        var taken: [ProcessEvent] = []
        while events.wake.wait(until: until) {
            events.takeAll(into: &taken)
            for case .stop in taken { return true }
        }
        return false
    }
}
