import Fulfillment
import Purchases
import Synchronization

/// An input topic in memory: hands out what was written, remembers what was committed.
final class FakeSource: SubmissionSource {
    private struct State {
        var records: [SubmissionRecord] = []
        var position = 0
        var announced = false
        var revoking: [TopicPartition]?
        var stored: [TopicPartition: Int64] = [:]
        var largestDemand = 0
        var closed = false
        var signs: UInt64 = 0
        var hangs = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    static let partition = TopicPartition(topic: "receipts.submitted", partition: 0)

    private let state = Mutex(State())

    /// All records so far.
    var records: [SubmissionRecord] { state.withLock { $0.records } }
    /// Next offset to read, as committed.
    var committed: Int64? { state.withLock { $0.stored[Self.partition] } }
    var isClosed: Bool { state.withLock { $0.closed } }
    /// Records handed out and not committed.
    var ahead: Int { state.withLock { $0.position - Int($0.stored[Self.partition] ?? 0) } }

    func write(_ values: [[UInt8]?]) {
        let waiter = state.withLock { state in
            for value in values {
                state.records.append(
                    SubmissionRecord(
                        partition: Self.partition, offset: Int64(state.records.count),
                        timestamp: Timestamp(milliseconds: 1_795_255_200_000), key: nil, value: value, headers: []))
            }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Deletes the topic and makes it anew: offsets begin at 0 again.
    func makeAnew(_ values: [[UInt8]?]) {
        state.withLock { state in
            state.records = []
            state.position = 0
        }
        write(values)
    }

    /// Takes the partition away, as a rebalance does.
    func revoke() {
        state.withLock { state in
            state.revoking = [Self.partition]
            return state.waiter.take()
        }?.resume()
    }

    func next(maxRecords: Int, maxBytes: Int) async throws(SourceError) -> SourceEvent? {
        while !Task.isCancelled {
            let event: SourceEvent? = state.withLock { state in
                if !state.announced {
                    state.announced = true
                    return .assigned([Self.partition], epoch: 1)
                }
                if let partitions = state.revoking {
                    state.revoking = nil
                    return .revoking(partitions, lost: false) { [self] offsets in
                        self.state.withLock { $0.stored.merge(offsets) { max($0, $1) } }
                    }
                }
                guard maxRecords > 0, state.position < state.records.count else { return nil }
                let batch = state.records[state.position...].prefix(maxRecords)
                state.position += batch.count
                return .records(Array(batch))
            }
            if let event { return event }
            await wait(forRecords: maxRecords > 0)
        }
        return nil
    }

    private func wait(forRecords: Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    let hasRecords = forRecords && state.position < state.records.count
                    guard !Task.isCancelled, state.revoking == nil, !hasRecords else { return true }
                    state.waiter = continuation
                    return false
                }
                if ready { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }

    func store(_ offsets: [TopicPartition: Watermark]) async throws(SourceError) {
        state.withLock { state in
            for (partition, watermark) in offsets { state.stored[partition] = watermark.offset }
        }
    }

    func pause() async throws(SourceError) {}

    func resume() async throws(SourceError) {}

    /// Stands still once ``hang()`` was called.
    var signsOfLife: [UInt64] {
        state.withLock { state in
            if !state.hangs { state.signs += 1 }
            return [state.signs]
        }
    }

    /// From now on nothing shows that it works.
    func hang() { state.withLock { $0.hangs = true } }

    /// From now on it works again.
    func recover() { state.withLock { $0.hangs = false } }

    func close(within limit: Duration) async {
        state.withLock { $0.closed = true }
    }
}
