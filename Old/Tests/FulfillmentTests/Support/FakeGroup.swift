import Fulfillment
import Purchases
import Synchronization

/// A topic in memory that several members share; partitions move as the test says.
///
/// It keeps the group's rules: a partition that is taken away is given on once its owner has let go, one that is lost is
/// given on at once, and an offset counts only from the member whose the partition is.
final class FakeGroup: Sendable {
    /// What went wrong, and what was measured.
    struct Judgement: Sendable {
        /// Offsets that were committed past a record without a fate.
        var commitsPastFates = 0
        /// Offsets that were committed below an earlier one.
        var commitsBackwards = 0
        /// Revocations that were answered.
        var answers = 0
    }

    fileprivate struct Place {
        var epoch: UInt64
        var position: Int
        /// Taken away, and not yet let go.
        var isLeaving = false
    }

    fileprivate struct Member {
        var places: [Int: Place] = [:]
        var announcements: [SourceEvent] = []
        var isPaused = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    fileprivate struct State {
        var logs: [[(id: SubmissionID, value: [UInt8])]]
        var committed: [Int64]
        var members: [Member] = []
        var lastEpoch: UInt64 = 0
        var judgement = Judgement()
    }

    private static let topic = "receipts.submitted"
    fileprivate let state: Mutex<State>
    private let fates: @Sendable () -> Set<SubmissionID>

    /// - Parameter fates: the submissions whose fate is in the ledger.
    init(partitions: Int, fates: @escaping @Sendable () -> Set<SubmissionID>) {
        state = Mutex(
            State(logs: Array(repeating: [], count: partitions), committed: Array(repeating: 0, count: partitions)))
        self.fates = fates
    }

    var judgement: Judgement { state.withLock { $0.judgement } }
    var committed: [Int64] { state.withLock { $0.committed } }

    /// A new member, without partitions.
    func join() -> FakeMember {
        state.withLock { state in
            state.members.append(Member())
            return FakeMember(group: self, index: state.members.count - 1)
        }
    }

    func write(_ id: SubmissionID, _ value: [UInt8], to partition: Int) {
        let waiters = state.withLock { state in
            state.logs[partition].append((id, value))
            return state.members.indices.compactMap { state.members[$0].waiter.take() }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Whether nobody is asked for the partition at the moment.
    func isSettled(_ partition: Int) -> Bool {
        state.withLock { $0.members.allSatisfy { $0.places[partition]?.isLeaving != true } }
    }

    /// Takes a partition from whoever has it and gives it to a member, at once if it is lost.
    func move(_ partition: Int, to next: Int, lost: Bool = false) {
        state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard let owner = state.members.firstIndex(where: { $0.places[partition] != nil }) else {
                return give(partition, to: next, &state)
            }
            guard owner != next, state.members[owner].places[partition]?.isLeaving == false else { return [] }
            state.members[owner].announcements.append(
                .revoking([name(partition)], lost: lost) { [self] offsets in
                    guard !lost else { return }
                    letGo(partition, owner, offsets[name(partition)], to: next)
                })
            let woken = [state.members[owner].waiter.take()].compactMap { $0 }
            guard lost else {
                state.members[owner].places[partition]?.isLeaving = true
                return woken
            }
            state.members[owner].places[partition] = nil
            return woken + give(partition, to: next, &state)
        }.forEach { $0.resume() }
    }

    private func letGo(_ partition: Int, _ owner: Int, _ offset: Int64?, to next: Int) {
        state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.members[owner].places[partition]?.isLeaving == true else { return [] }
            state.judgement.answers += 1
            if let offset { commit(offset, partition, &state) }
            state.members[owner].places[partition] = nil
            return give(partition, to: next, &state)
        }.forEach { $0.resume() }
    }

    private func give(_ partition: Int, to next: Int, _ state: inout State) -> [CheckedContinuation<Void, Never>] {
        state.lastEpoch += 1
        state.members[next].places[partition] = Place(
            epoch: state.lastEpoch, position: Int(state.committed[partition]))
        state.members[next].announcements.append(.assigned([name(partition)], epoch: state.lastEpoch))
        return [state.members[next].waiter.take()].compactMap { $0 }
    }

    fileprivate func commit(_ offset: Int64, _ partition: Int, _ state: inout State) {
        let fates = fates()
        if state.logs[partition].prefix(Int(offset)).contains(where: { !fates.contains($0.id) }) {
            state.judgement.commitsPastFates += 1
        }
        if offset < state.committed[partition] { state.judgement.commitsBackwards += 1 }
        state.committed[partition] = offset
    }

    fileprivate func name(_ partition: Int) -> TopicPartition {
        TopicPartition(topic: Self.topic, partition: Int32(partition))
    }

    /// Records of one partition of a member, if there are any for it.
    fileprivate func records(_ member: Int, _ limit: Int, _ state: inout State) -> [SubmissionRecord] {
        for (partition, place) in state.members[member].places.sorted(by: { $0.key < $1.key })
        where !place.isLeaving && place.position < state.logs[partition].count {
            let batch = state.logs[partition][place.position...].prefix(limit)
            state.members[member].places[partition]?.position += batch.count
            return batch.enumerated().map { index, record in
                SubmissionRecord(
                    partition: name(partition), offset: Int64(place.position + index),
                    timestamp: Timestamp(milliseconds: 1_795_255_200_000), key: nil, value: record.value, headers: [])
            }
        }
        return []
    }
}

/// One member of a ``FakeGroup``.
struct FakeMember: SubmissionSource {
    fileprivate let group: FakeGroup
    fileprivate let index: Int

    func next(maxRecords: Int, maxBytes: Int) async throws(SourceError) -> SourceEvent? {
        while !Task.isCancelled {
            let event: SourceEvent? = group.state.withLock { state in
                if !state.members[index].announcements.isEmpty {
                    return state.members[index].announcements.removeFirst()
                }
                guard maxRecords > 0, !state.members[index].isPaused else { return nil }
                let batch = group.records(index, maxRecords, &state)
                return batch.isEmpty ? nil : .records(batch)
            }
            if let event { return event }
            await wait(forRecords: maxRecords > 0)
        }
        return nil
    }

    private func wait(forRecords: Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = group.state.withLock { state in
                    let member = state.members[index]
                    let hasRecords =
                        forRecords && !member.isPaused
                        && member.places.contains { !$1.isLeaving && $1.position < state.logs[$0].count }
                    guard !Task.isCancelled, member.announcements.isEmpty, !hasRecords else { return true }
                    state.members[index].waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            group.state.withLock { $0.members[index].waiter.take() }?.resume()
        }
    }

    func store(_ offsets: [TopicPartition: Watermark]) async throws(SourceError) {
        group.state.withLock { state in
            for (partition, mark) in offsets {
                let number = Int(partition.partition)
                guard state.members[index].places[number]?.epoch == mark.epoch else { continue }
                group.commit(mark.offset, number, &state)
            }
        }
    }

    func pause() async throws(SourceError) { setPaused(true) }

    func resume() async throws(SourceError) { setPaused(false) }

    private func setPaused(_ isPaused: Bool) {
        group.state.withLock { state in
            state.members[index].isPaused = isPaused
            return state.members[index].waiter.take()
        }?.resume()
    }

    var signsOfLife: [UInt64] { [] }

    func close(within limit: Duration) async {}
}
