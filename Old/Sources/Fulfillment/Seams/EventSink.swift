public import Purchases

/// The output topics.
public protocol EventSink: Sendable {
    /// Publishes events in the order given. Returns at once when the task is cancelled: whoever stops waits for no broker.
    ///
    /// - Returns: for each, whether the broker acknowledged it. A false one may have been written all the same,
    ///   or be written yet; it is published again later, byte for byte.
    func publish(_ events: [Event]) async -> [Bool]
}
