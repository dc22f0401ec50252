import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct RebalanceTests {
    @Test(
        "A second member takes over from the offsets that the first gave when it let go",
        arguments: KafkaConsumerConfiguration.Assignor.allCases)
    func handover(assignor: KafkaConsumerConfiguration.Assignor) async throws {
        let bench = try Bench(partitions: 2)
        try await bench.fill(0..<40)
        // Only the commit on revocation can be what the second member sees.
        let first = try bench.consumer(assignor: assignor) {
            $0.autoCommitInterval = .seconds(600)
            $0.revocationDeadline = .seconds(600)
        }
        let all = try await first.assignment()
        let read = try await first.read(40)
        let ends = read.reduce(into: [:]) { ends, record in ends[record.partition] = record.offset + 1 }
        #expect(Set(all) == Set(ends.keys))

        let second = try bench.consumer(assignor: assignor)
        let shares = try await bench.share(among: [first, second], from: [Set(all), []], storing: ends)
        #expect(shares[0].union(shares[1]) == Set(all))
        #expect(shares[0].isDisjoint(with: shares[1]))

        // Nothing is lost. Nothing is read twice either, except that the mock, unlike Kafka, takes no commits from the
        // members of an eager group while it rebalances.
        try await bench.fill(100..<140)
        let fresh = try await second.read(1, maxRecords: 1)
        #expect(assignor != .cooperativeSticky || fresh.allSatisfy { $0.offset >= ends[$0.partition] ?? 0 })
        #expect(fresh.allSatisfy { $0.offset <= ends[$0.partition] ?? 0 })
        await first.close(deadline: .seconds(10))
        await second.close(deadline: .seconds(10))
    }

    @Test("The group waits for a revocation to be completed")
    func revocationIsAwaited() async throws {
        let bench = try Bench(partitions: 2)
        let first = try bench.consumer { $0.revocationDeadline = .seconds(50) }
        let all = try await first.assignment()
        let second = try bench.consumer()
        guard case .revoking(let revocation)? = try await first.next(maxRecords: 1, maxBytes: 1) else {
            Issue.record("expected a revocation")
            return
        }
        #expect(Set(revocation.partitions) == Set(all))
        #expect(!revocation.lost)
        // Still the owner: what finishes now can be stored.
        #expect(try await first.storeOffsets([all[0]: 0]) == [])
        revocation.complete()
        let shares = try await bench.share(among: [first, second], from: [[], []])
        #expect(shares[0].union(shares[1]) == Set(all))
        await first.close(deadline: .seconds(10))
        await second.close(deadline: .seconds(10))
    }

    @Test("A revocation that nobody completes ends at its deadline")
    func revocationDeadline() async throws {
        let bench = try Bench(partitions: 2)
        let first = try bench.consumer { $0.revocationDeadline = .milliseconds(200) }
        _ = try await first.assignment()
        let second = try bench.consumer()
        // The first member never answers, and never asks for anything either.
        #expect(try await second.hold(1).count == 1)
        await first.close(deadline: .seconds(10))
        await second.close(deadline: .seconds(10))
    }

    @Test("A paused partition is still paused after it went away and came back")
    func pauseSurvivesReassignment() async throws {
        let bench = try Bench(partitions: 2)
        let first = try bench.consumer()
        let all = try await first.assignment()
        try await first.pause([all[0]])
        let second = try bench.consumer()
        var held = try await bench.share(among: [first, second], from: [Set(all), []])[0]
        await second.close(deadline: .seconds(10))
        while held != Set(all) { held = try await first.change(of: held) }

        try await bench.fill(0..<40)
        let deliveredWhilePaused = try await first.read(1)
        #expect(deliveredWhilePaused.allSatisfy { $0.partition == all[1] })
        try await first.resume([all[0]])
        var read = deliveredWhilePaused
        while read.count < 40 { read += try await first.read(1) }
        #expect(Set(read.map(\.text)) == Set((0..<40).map(String.init)))
        await first.close(deadline: .seconds(10))
    }

    @Test(
        "A member's own pause of everything holds for what it is given later",
        arguments: KafkaConsumerConfiguration.Assignor.allCases)
    func pauseOfEverything(assignor: KafkaConsumerConfiguration.Assignor) async throws {
        let bench = try Bench(partitions: 2)
        let first = try bench.consumer(assignor: assignor)
        let all = try await first.assignment()
        try await first.pause()
        let second = try bench.consumer(assignor: assignor)
        var held = try await bench.share(among: [first, second], from: [Set(all), []])[0]
        await second.close(deadline: .seconds(10))
        // Still a member: what the other one had comes back.
        while held != Set(all) { held = try await first.change(of: held) }
        try await bench.fill(0..<40)
        let waiting = Task { try await first.next(maxRecords: 100, maxBytes: 1 << 20) }
        try await bench.fill(40..<80)
        waiting.cancel()
        await #expect(throws: KafkaError.cancelled) { try await waiting.value }
        try await first.resume()
        #expect(try await Set(first.read(80).map(\.text)) == Set((0..<80).map(String.init)))
        await first.close(deadline: .seconds(10))
    }

    @Test(
        "A session that ran out is told as lost, nothing of it can be stored, and the member comes back by itself",
        arguments: KafkaConsumerConfiguration.Assignor.allCases)
    func lostSession(assignor: KafkaConsumerConfiguration.Assignor) async throws {
        let bench = try Bench()
        try await bench.fill(0..<10)
        let consumer = try bench.consumer(assignor: assignor) { $0.autoCommitInterval = .seconds(600) }
        let read = try await consumer.read(10)
        let partition = bench.partition(0)
        let epoch = try #require(read.first?.epoch)
        bench.cluster.pushRequestErrors(.heartbeat, [.unknownMember])
        guard case .revoking(let revocation)? = try await consumer.next(maxRecords: 0, maxBytes: 0) else {
            Issue.record("expected a revocation")
            return
        }
        #expect(revocation.lost)
        revocation.complete(storing: [partition: 10])
        guard case .assigned(_, let next)? = try await consumer.next(maxRecords: 0, maxBytes: 0) else {
            Issue.record("expected an assignment")
            return
        }
        #expect(next > epoch)
        #expect(try await consumer.storeOffsets([partition: 10], readUnder: [partition: epoch]) == [partition])
        // From the beginning again: the lost session has committed nothing.
        #expect(try await consumer.read(10).map(\.offset) == Array(0..<10))
        await consumer.close(deadline: .seconds(10))
    }
}
