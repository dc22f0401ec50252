import Kafka

extension Bench {
    /// Serves all members together until each holds one partition of its own.
    ///
    /// Together to the end, because a group may rebalance again after one member has its share, and the others get
    /// theirs only when that member lets go once more. The mock does so of itself: when the leader's division arrives
    /// before a follower has asked for its part, the follower is sent back to join anew. The delay makes that rare: the
    /// leader has to look up metadata first, so that the follower is one round trip ahead.
    /// - Parameters:
    ///   - start: what each member holds already.
    ///   - offsets: what is stored of a partition when it is given back.
    func share(
        among members: [KafkaConsumer], from start: [Set<KafkaPartition>],
        storing offsets: [KafkaPartition: Int64] = [:]
    ) async throws -> [Set<KafkaPartition>] {
        try cluster.setRoundTrip(.milliseconds(300), broker: 1)
        let (changes, continuation) = AsyncStream.makeStream(of: (member: Int, held: Set<KafkaPartition>).self)
        let shares: [Set<KafkaPartition>] = try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, member) in members.enumerated() {
                group.addTask {
                    defer { continuation.finish() }
                    var held = start[index]
                    while true {
                        held = try await member.change(of: held, storing: offsets)
                        continuation.yield((index, held))
                    }
                }
            }
            defer { group.cancelAll() }
            var shares = start
            for await change in changes {
                shares[change.member] = change.held
                let isDivided = shares.allSatisfy { $0.count == 1 } && Set(shares).count == shares.count
                if isDivided { return shares }
            }
            throw BenchError.closed
        }
        try cluster.setRoundTrip(.zero, broker: 1)
        return shares
    }
}
