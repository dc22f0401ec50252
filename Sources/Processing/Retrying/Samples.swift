import Ledger
import Scheduling

/// How often the ledger is sampled: every ten seconds, and down to once a minute while nothing happens.
///
/// A fleet that waits for Apple's word has rows of `retries` for hours. Its samples are all that it does then.
struct Samples {
    static let interval: Duration = .seconds(10)
    static let longest: Duration = .seconds(60)

    private var last: LedgerMeasure?
    private(set) var pause = interval

    /// A sample is here.
    ///
    /// - Parameter isIdle: whether this worker has nothing in flight.
    mutating func taken(_ measure: LedgerMeasure, isIdle: Bool) {
        let isQuiet =
            isIdle && last.map { $0.waiting == measure.waiting && $0.outboxRows == measure.outboxRows } ?? false
        pause = isQuiet ? min(pause * 2, Self.longest) : Self.interval
        last = measure
    }
}
