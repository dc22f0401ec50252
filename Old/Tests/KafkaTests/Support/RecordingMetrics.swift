import Metrics
import Synchronization

/// Keeps the last values of meters and counters and lets a test wait for them.
final class RecordingMetrics: MetricsFactory {
    private struct State {
        var values: [String: Double] = [:]
        var waiters: [@Sendable (String, Double) -> Bool] = []
    }

    private let state = Mutex(State())

    /// Waits for a recording of `label`, after `skipping` others of it, that `matches`.
    func value(
        _ label: String, skipping: Int = 0, where matches: @escaping @Sendable (Double) -> Bool
    ) async throws -> Double {
        let skipped = Countdown(skipping)
        return await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiters.append { name, value in
                    guard name == label, skipped.isOver, matches(value) else { return false }
                    continuation.resume(returning: value)
                    return true
                }
            }
        }
    }

    /// The last recording of `label`; nil before the first.
    func last(_ label: String) -> Double? { state.withLock { $0.values[label] } }

    private func record(_ label: String, _ value: Double) {
        state.withLock { state in
            state.values[label] = value
            state.waiters.removeAll { $0(label, value) }
        }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        Handler { [weak self] in self?.record(Self.name(label, dimensions), $0) }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler { [weak self] in self?.record(Self.name(label, dimensions), $0) }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler { [weak self] in self?.record(Self.name(label, dimensions), $0) }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// `label{a,b}` of the dimensions' values.
    private static func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        dimensions.isEmpty ? label : label + "{" + dimensions.map(\.1).joined(separator: ",") + "}"
    }
}

private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    var isOver: Bool {
        left.withLock { left in
            left -= 1
            return left < 0
        }
    }
}

private final class Handler: MeterHandler, CounterHandler, RecorderHandler {
    private let record: @Sendable (Double) -> Void

    init(_ record: @escaping @Sendable (Double) -> Void) { self.record = record }

    func set(_ value: Int64) { record(Double(value)) }
    func set(_ value: Double) { record(value) }
    func increment(by amount: Double) { record(amount) }
    func increment(by amount: Int64) { record(Double(amount)) }
    func decrement(by amount: Double) { record(-amount) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { record(value) }
    func reset() {}
}
