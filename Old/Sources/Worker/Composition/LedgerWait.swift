import Ledger
import Logging

/// Opens a ledger however long that takes. A worker that starts while its database restarts, or while its disk is full, has
/// nothing to do but wait: one that ended would be started again later each time.
struct LedgerWait<Opened: Sendable>: Sendable {
    static var shortestPause: Duration { .milliseconds(500) }
    static var longestPause: Duration { .seconds(5) }
    /// Tries between two lines of the log.
    static var triesPerLine: Int { 12 }

    let open: @Sendable () async throws(LedgerError) -> Opened
    /// Waits; false if the worker is to stop.
    let pause: @Sendable (Duration) async -> Bool
    /// From 0 up to 1, at random.
    let unit: @Sendable () -> Double
    let logger: Logger

    /// - Returns: nil if the worker is to stop.
    /// - Throws: what waiting does not mend.
    func opened() async throws(LedgerError) -> Opened? {
        var tries = 0
        while true {
            do throws(LedgerError) {
                let opened = try await open()
                if tries > 0 { logger.info("The ledger is available", metadata: ["tries": "\(tries)"]) }
                return opened
            } catch {
                guard case .unavailable(let cause) = error else { throw error }
                if tries % Self.triesPerLine == 0 {
                    logger.warning(
                        "The ledger is unavailable; the worker waits for it before it joins its group",
                        metadata: ["cause": "\(cause)", "tries": "\(tries + 1)"])
                }
                tries += 1
                guard await pause(delay(afterTries: tries)) else { return nil }
            }
        }
    }

    private func delay(afterTries tries: Int) -> Duration {
        let longest = min(Self.longestPause, Self.shortestPause * (1 << min(tries, 8)))
        return longest * (0.5 + unit() / 2)
    }
}
