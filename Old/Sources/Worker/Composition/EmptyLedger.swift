import Kafka
import Ledger
import Logging
import Metrics

/// Asks, before a worker reads anything, whether a ledger that holds nothing is the one its group has worked with.
///
/// Offsets are committed behind what the ledger holds. A ledger without anything beside a group with offsets is therefore
/// another one than before: its file was deleted, its volume is not mounted, its database was made anew. What was granted
/// before would be granted once more to whoever submits it, and what was parked is not tried again.
struct EmptyLedger: Sendable {
    enum Finding: Hashable, Sendable {
        /// The ledger holds something, or its group has not begun.
        case fits
        /// The group has offsets in so many partitions, and the ledger nothing.
        case forgotten(partitions: Int)
        /// The ledger did not say.
        case ledgerUnknown(LedgerError)
        /// The ledger holds nothing, and the brokers did not say.
        case groupUnknown(KafkaError)

        /// Whether to ask again: what did not answer may do so a moment later.
        var isPassing: Bool {
            switch self {
            case .fits, .forgotten: false
            case .ledgerUnknown(let error): if case .unavailable = error { true } else { false }
            case .groupUnknown(let error): error.disposition == .retry
            }
        }
    }

    /// How long it rests before it asks again.
    static let rest: Duration = .seconds(5)
    /// Tries between two lines of the log.
    static let triesPerLine = 6

    /// How long the brokers are waited for: longer at each try, because large and distant clusters answer late, and never so long
    /// that a worker that is to stop outlives the usual half minute.
    ///
    /// - Parameter tries: those before.
    static func limit(after tries: Int) -> Duration { .seconds(5 * min(tries + 1, 3)) }

    let ledger: any LedgerStore & LedgerReader
    /// In how many partitions the group has committed offsets; told how long it may take to find out.
    let partitionsWithOffsets: @Sendable (Duration) async throws(KafkaError) -> Int

    /// Says in the log and as a metric what was found; a ledger that fits goes unmentioned.
    ///
    /// Asks again for as long as ledger or brokers do not answer: a worker has nothing to do without them, and once it has
    /// settled something nobody can tell any more.
    ///
    /// - Parameter pause: waits; false if the worker is to stop, which ends the asking.
    func report(pause: @Sendable (Duration) async -> Bool, _ logger: Logger) async {
        let gauge = Gauge(label: "grantor_ledger_forgotten")
        gauge.record(0)
        var tries = 0
        var found = await finding()
        while found.isPassing {
            if tries % Self.triesPerLine == 0 { log(found, tries: tries + 1, logger) }
            tries += 1
            guard await pause(Self.rest) else { return }
            found = await finding(limit: Self.limit(after: tries))
        }
        if case .forgotten = found { gauge.record(1) }
        log(found, tries: tries + 1, logger)
    }

    private func log(_ finding: Finding, tries: Int, _ logger: Logger) {
        switch finding {
        case .fits: break
        case .forgotten(let partitions):
            logger.error(
                "The ledger is empty, though its group has worked before: what was granted can be granted again",
                metadata: ["partitionsWithOffsets": "\(partitions)", "remedy": "\(Self.remedy)"])
        case .ledgerUnknown(let cause):
            logger.warning(
                "Whether the ledger is the one that its group has worked with could not be asked",
                metadata: ["cause": "\(cause)", "tries": "\(tries)"])
        case .groupUnknown(let cause):
            logger.warning(
                "The ledger is empty, and whether its group has worked before could not be asked",
                metadata: ["cause": "\(cause)", "tries": "\(tries)"])
        }
    }

    /// What somebody does who reads it.
    static let remedy = """
        unless the ledger was replaced on purpose, stop all workers and bring the old one back: docs/operations.md, \
        Restore from a backup
        """

    /// What is there now. Joins no group.
    ///
    /// - Parameter limit: how long the brokers may take to answer.
    func finding(limit: Duration = limit(after: 0)) async -> Finding {
        do throws(LedgerError) {
            guard try await isEmpty() else { return .fits }
            let finding = await Self.findingWithoutLedger(
                limit: limit, partitionsWithOffsets: partitionsWithOffsets)
            guard case .forgotten = finding else { return finding }
            // Once more: what another worker settled and committed meanwhile is in the ledger before it is committed.
            return try await isEmpty() ? finding : .fits
        } catch {
            return .ledgerUnknown(error)
        }
    }

    /// What is found where there is no ledger yet, or nothing in it.
    static func findingWithoutLedger(
        limit: Duration = limit(after: 0), partitionsWithOffsets: @Sendable (Duration) async throws(KafkaError) -> Int
    ) async -> Finding {
        do throws(KafkaError) {
            let partitions = try await partitionsWithOffsets(limit)
            return partitions > 0 ? .forgotten(partitions: partitions) : .fits
        } catch {
            return .groupUnknown(error)
        }
    }

    /// Whether nothing has ever been settled: neither an event nor anything that waits.
    private func isEmpty() async throws(LedgerError) -> Bool {
        guard try await ledger.outbox(after: 0, limit: 1).isEmpty else { return false }
        return try await ledger.submissions(SubmissionFilter(), before: nil, limit: 1).isEmpty
    }
}
