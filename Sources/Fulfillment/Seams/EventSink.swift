public import Purchases

/// The output topics.
public protocol EventSink: Sendable {
    /// Publishes events in the order given.
    ///
    /// - Returns: for each, whether the broker acknowledged it. A false one may have been written all the same;
    ///   it is published again later, byte for byte.
    func publish(_ events: [Event]) async -> [Bool]
}
