import Synchronization

/// What a consumer's threads leave behind as they work, for a watchdog to see.
///
/// librdkafka before 2.6.1 can loop in a thread of its own for ever, and a call to it then never returns. Neither ends the
/// process, and nothing but a restart mends it.
public struct KafkaConsumerSigns: Sendable, Hashable {
    /// Turns of the thread that owns the client: at least one a second.
    public let turns: UInt64
    /// Statistics that librdkafka's main thread has sent: one each `statisticsInterval`. `nil` where there are none.
    public let reports: UInt64?
}

/// Counts the signs: written by the owner thread, read by anybody.
final class ConsumerPulse: Sendable {
    private let turns = Atomic<UInt64>(0)
    private let reports = Atomic<UInt64>(0)
    private let hasReports: Bool

    init(hasReports: Bool) { self.hasReports = hasReports }

    var signs: KafkaConsumerSigns {
        KafkaConsumerSigns(
            turns: turns.load(ordering: .relaxed), reports: hasReports ? reports.load(ordering: .relaxed) : nil)
    }

    func turn() { turns.wrappingAdd(1, ordering: .relaxed) }

    func report() { reports.wrappingAdd(1, ordering: .relaxed) }
}
