import Configuration
import Ledger
import Logging
import Scheduling
import Synchronization
import Threading

/// Opens the ledger that the configuration names, for the worker's group alone.
///
/// A worker without partitions works on due rows and owed events, too. So no connection is had before the ledger is the
/// group's. That is checked at the start, when the group's name and topics are known, and later, when its cluster is
/// known as well.
struct LedgerOpening: Sendable {
    static let shortestPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(5)
    /// Tries between two lines of the log: ten minutes, as for everything that lasts.
    static let triesPerLine = 120

    /// Its words in the log.
    let name: String
    /// Also of what reads the ledger beside the worker: a second driver would not know that a standby has taken the
    /// place of the primary that it asks.
    let driver: LedgerDriver
    private let group: ConsumerGroup
    private let prunes: Bool
    private let membership = Membership()

    /// The group that has let the worker in; nil before that.
    private final class Membership: Sendable {
        let group = Mutex<ConsumerGroup?>(nil)
    }

    /// - Parameters:
    ///   - group: The worker's group, whose cluster is not known yet.
    ///   - prunes: Whether the worker deletes old answers.
    /// - Throws: `.unusable` for a URL that makes no sense.
    init(_ settings: LedgerSettings, group: ConsumerGroup, prunes: Bool = false) throws(LedgerError) {
        self.prunes = prunes
        name = "\(settings)"
        driver = try LedgerDriver(settings)
        self.group = group
    }

    /// The group has let the worker in.
    /// - Parameter cluster: The id of its cluster; nil where the brokers name none.
    @Sendable func joined(cluster: String?) {
        var group = group
        group.cluster = cluster
        membership.group.withLock { [group] in $0 = group }
    }

    /// A connection for the calling thread. The ledger is the group's from then on.
    /// - Throws: also `.unusable` if it is another group's, or if an embedded ledger was replaced by a file that
    ///   another worker has.
    func open() throws(LedgerError) -> any LedgerConnection & LedgerOperator {
        // Before the group has let the worker in, no session is made at all.
        _ = try member()
        if let holder = try driver.claim(creating: false) {
            throw .unusable(detail: "\(holder) works for \(name) now; this worker ends, and waits after its next start")
        }
        let ledger = try driver.open()
        try demandGroup(of: ledger)
        return ledger
    }

    /// Makes the ledger the group's, if it has no group.
    /// - Throws: `.unusable` if it is another group's, such as after a person has moved it.
    @Sendable func demandGroup(of ledger: any LedgerConnection) throws(LedgerError) {
        let group = try member()
        let owner = try ledger.bind(to: group)
        if let refusal = group.refusal(of: try ledger.identity(), owner: owner) { throw .unusable(detail: refusal) }
    }

    private func member() throws(LedgerError) -> ConsumerGroup {
        guard let group = membership.group.withLock({ $0 }) else {
            throw .unavailable(detail: "the group has not let the worker in, so its cluster is not known")
        }
        return group
    }

    /// Makes an embedded ledger if there is none, and waits until it is available. A worker can only wait while another
    /// worker has the file, its database restarts, or its disk is full.
    ///
    /// An order to read the apps file again that comes meanwhile is left for the worker's begin.
    /// - Returns: Its id; nil if the worker is to stop.
    /// - Throws: the error that waiting does not mend.
    func wait(
        _ events: Mailbox<ProcessEvent>, logger: Logger
    ) throws(LedgerError) -> String? {
        var backoff = Self.shortestPause
        var tries = 0
        // A standby may wait for weeks: it says once for whom.
        var toldHolder: String?
        var mustReload = false
        defer { if mustReload { events.post(.reload) } }
        while true {
            let isToldNow = tries % Self.triesPerLine == 0
            tries += 1
            do throws(LedgerError) {
                guard let holder = try driver.claim(creating: driver.isMadeByWorkers) else {
                    let id = try make(logger)
                    if tries > 1 { logger.info("The ledger is available", metadata: ["tries": .number(tries)]) }
                    return id
                }
                if holder != toldHolder {
                    logger.notice(
                        "Another worker has the ledger; this one waits, and takes over once that one has ended",
                        metadata: ["ledger": "\(name)", "holder": .text(holder)])
                }
                toldHolder = holder
            } catch {
                // A session that ended between two looks counts as one that could not be opened.
                if case .unusable = error { throw error }
                if isToldNow {
                    logger.error(
                        "The ledger is unavailable; the worker waits for it before it joins its group",
                        metadata: ["cause": .text(error.detail), "tries": .number(tries)])
                }
            }
            if isStopped(events, within: backoff, &mustReload) { return nil }
            backoff = min(backoff * 2, Self.longestPause)
        }
    }

    /// Makes the ledger, or brings it up to date, where workers do so.
    /// - Returns: Its id.
    /// - Throws: also `.unusable` if it is another group's.
    private func make(_ logger: Logger) throws(LedgerError) -> String {
        if driver.isMadeByWorkers {
            let (from, to) = try driver.migrate()
            if from == 0 {
                logger.notice("A new ledger is made", metadata: ["ledger": "\(name)"])
            } else if from != to {
                logger.notice(
                    "The ledger's schema is brought up to date",
                    metadata: ["ledger": "\(name)", "from": .number(from), "to": .number(to)])
            }
        }
        let (id, owner) = try driver.identify(prunes: prunes)
        // The cluster is not known before the group has let the worker in.
        if let owner, let refusal = group.refusal(of: id, owner: owner) { throw .unusable(detail: refusal) }
        return id
    }

    /// Waits for a time, or until the process is to stop.
    private func isStopped(
        _ events: Mailbox<ProcessEvent>, within time: Duration, _ mustReload: inout Bool
    ) -> Bool {
        let until = Instant.now + time
        var taken: [ProcessEvent] = []
        while events.wake.wait(until: until) {
            events.takeAll(into: &taken)
            for event in taken {
                switch event {
                case .stop: return true
                case .reload: mustReload = true
                // No driver is there yet.
                case .stopped, .clientFailed: break
                }
            }
        }
        return false
    }
}
