/// Which partitions are this member's, and how a rebalance is answered. Pure: events in, actions out.
struct ConsumerAssignment {
    typealias Instant = ContinuousClock.Instant

    enum Action: Equatable {
        case none
        /// Commit these, then report `committed` with the token.
        case commit([KafkaPartition: Int64], token: UInt)
        /// Give the partitions back to the group.
        case unassign([KafkaPartition])
    }

    /// What the application has not been told yet.
    enum Announcement: Equatable {
        case assigned([KafkaPartition], epoch: UInt64)
        case revoking(id: UInt64, [KafkaPartition], lost: Bool)
    }

    /// How far the answer to a revocation has come.
    private enum Revocation {
        /// Goes to `application` or `commit`, or back to `none` at once.
        case none
        /// Goes to `commit` by `completed` or at the deadline, to `none` when there is nothing to commit.
        case application(id: UInt64, [KafkaPartition], deadline: Instant)
        /// Goes to `none` by `committed` or at the deadline.
        case commit(token: UInt, [KafkaPartition], deadline: Instant)
    }

    private let revocationDeadline: Duration
    private let commitDeadline: Duration
    private var revocation = Revocation.none
    private var epochs: [KafkaPartition: UInt64] = [:]
    /// Of partitions that are on their way to another member and still ours.
    private var leaving: [KafkaPartition: UInt64] = [:]
    private var stored: [KafkaPartition: Int64] = [:]
    private var epoch: UInt64 = 0
    private var lastRevocation: UInt64 = 0
    private var lastToken: UInt = 0
    private var isClosing = false
    /// At most two per partition: what is revoked before its assignment was announced is announced not at all.
    private var announcements: [Announcement] = []

    /// - Parameter commitDeadline: how long the commit before giving partitions back may take.
    init(revocationDeadline: Duration, commitDeadline: Duration) {
        self.revocationDeadline = revocationDeadline
        self.commitDeadline = commitDeadline
    }

    var partitions: Set<KafkaPartition> { Set(epochs.keys) }

    /// The assignment a partition belongs to, `nil` while it is not this member's.
    func epoch(of partition: KafkaPartition) -> UInt64? { epochs[partition] }

    /// Whether work of this epoch may still move the partition's offset: until the partition is given back.
    func mayStore(_ partition: KafkaPartition, epoch: UInt64) -> Bool {
        epochs[partition] == epoch || leaving[partition] == epoch
    }

    /// When `reached` wants to be called.
    var deadline: Instant? {
        switch revocation {
        case .none: nil
        case .application(_, _, let deadline), .commit(_, _, let deadline): deadline
        }
    }

    mutating func nextAnnouncement() -> Announcement? {
        announcements.isEmpty ? nil : announcements.removeFirst()
    }

    /// Takes back an announcement that reached nobody.
    mutating func putBack(_ announcement: Announcement) { announcements.insert(announcement, at: 0) }

    mutating func assigned(_ partitions: [KafkaPartition]) {
        epoch += 1
        for partition in partitions {
            epochs[partition] = epoch
            stored[partition] = nil
        }
        announcements.append(.assigned(partitions.sorted(), epoch: epoch))
    }

    /// Notes an offset that librdkafka accepted, so that a revocation commits it.
    ///
    /// - Returns: whether it is lower than the one before, which librdkafka's own commit would pass over.
    mutating func stored(_ offset: Int64, for partition: KafkaPartition) -> Bool {
        defer { stored[partition] = offset }
        return stored[partition].map { offset < $0 } ?? false
    }

    mutating func revoked(_ partitions: [KafkaPartition], lost: Bool, now: Instant) -> Action {
        for partition in partitions {
            let epoch = epochs.removeValue(forKey: partition)
            if !lost { leaving[partition] = epoch }
        }
        let known = withdraw(partitions)
        if lost {
            for partition in partitions { stored[partition] = nil }
        }
        guard !known.isEmpty, !isClosing else { return release(partitions, now: now) }
        lastRevocation += 1
        announcements.append(.revoking(id: lastRevocation, known.sorted(), lost: lost))
        guard !lost else { return release(partitions, now: now) }
        revocation = .application(id: lastRevocation, partitions, deadline: now + revocationDeadline)
        return .none
    }

    /// The application has let go.
    mutating func completed(_ id: UInt64, now: Instant) -> Action {
        guard case .application(id, let partitions, _) = revocation else { return .none }
        return release(partitions, now: now)
    }

    /// Whether offsets given with this revocation may still be stored.
    func isWaiting(for id: UInt64) -> Bool {
        if case .application(id, _, _) = revocation { true } else { false }
    }

    mutating func committed(token: UInt) -> Action {
        guard case .commit(token, let partitions, _) = revocation else { return .none }
        return finish(partitions)
    }

    mutating func reached(_ now: Instant) -> Action {
        guard let deadline, now >= deadline else { return .none }
        switch revocation {
        case .none: return .none
        case .application(_, let partitions, _): return release(partitions, now: now)
        case .commit(_, let partitions, _): return finish(partitions)
        }
    }

    /// From now on nothing is announced and no revocation waits for the application.
    mutating func close(now: Instant) -> Action {
        isClosing = true
        announcements = []
        guard case .application(_, let partitions, _) = revocation else { return .none }
        return release(partitions, now: now)
    }

    private mutating func release(_ partitions: [KafkaPartition], now: Instant) -> Action {
        let offsets = stored.filter { partitions.contains($0.key) }
        guard !offsets.isEmpty else { return finish(partitions) }
        lastToken += 1
        revocation = .commit(token: lastToken, partitions, deadline: now + commitDeadline)
        return .commit(offsets, token: lastToken)
    }

    private mutating func finish(_ partitions: [KafkaPartition]) -> Action {
        revocation = .none
        for partition in partitions {
            stored[partition] = nil
            leaving[partition] = nil
        }
        return .unassign(partitions)
    }

    /// Takes partitions out of assignments that were not announced.
    /// - Returns: those that the application knows about.
    private mutating func withdraw(_ partitions: [KafkaPartition]) -> [KafkaPartition] {
        var known = Set(partitions)
        announcements = announcements.compactMap { announcement in
            guard case .assigned(let waiting, let epoch) = announcement else { return announcement }
            known.subtract(waiting)
            let rest = waiting.filter { !partitions.contains($0) }
            return rest.isEmpty && !waiting.isEmpty ? nil : .assigned(rest, epoch: epoch)
        }
        return known.sorted()
    }
}
