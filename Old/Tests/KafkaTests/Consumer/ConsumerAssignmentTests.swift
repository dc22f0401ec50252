import Testing

@testable import Kafka

struct ConsumerAssignmentTests {
    private let start = ContinuousClock.now
    private let a = KafkaPartition(topic: "t", index: 0)
    private let b = KafkaPartition(topic: "t", index: 1)

    private func make() -> ConsumerAssignment {
        ConsumerAssignment(revocationDeadline: .seconds(10), commitDeadline: .seconds(5))
    }

    private func announced() -> ConsumerAssignment {
        var assignment = make()
        assignment.assigned([a, b])
        #expect(assignment.nextAnnouncement() == .assigned([a, b], epoch: 1))
        return assignment
    }

    @Test("Each assignment has a higher epoch; partitions that stay keep theirs")
    func epochs() {
        var assignment = make()
        assignment.assigned([a])
        assignment.assigned([b])
        #expect(assignment.epoch(of: a) == 1)
        #expect(assignment.epoch(of: b) == 2)
        #expect(assignment.partitions == [a, b])
    }

    @Test("A revocation waits for the application, then commits, then gives the partitions back")
    func revocation() {
        var assignment = announced()
        _ = assignment.stored(5, for: a)
        _ = assignment.stored(9, for: b)
        #expect(assignment.revoked([a], lost: false, now: start) == .none)
        #expect(assignment.epoch(of: a) == nil)
        #expect(assignment.deadline == start + .seconds(10))
        #expect(assignment.nextAnnouncement() == .revoking(id: 1, [a], lost: false))
        #expect(assignment.isWaiting(for: 1))
        #expect(assignment.completed(1, now: start) == .commit([a: 5], token: 1))
        #expect(assignment.deadline == start + .seconds(5))
        #expect(assignment.committed(token: 1) == .unassign([a]))
        #expect(assignment.deadline == nil)
        #expect(assignment.partitions == [b])
    }

    @Test("Answers that are late, doubled or for another revocation do nothing")
    func staleAnswers() {
        var assignment = announced()
        #expect(assignment.completed(1, now: start) == .none)
        _ = assignment.revoked([a], lost: false, now: start)
        #expect(assignment.completed(7, now: start) == .none)
        #expect(assignment.completed(1, now: start) == .unassign([a]))
        #expect(assignment.completed(1, now: start) == .none)
        #expect(assignment.committed(token: 1) == .none)
        #expect(!assignment.isWaiting(for: 1))
    }

    @Test("At each deadline the answer goes on without what it waited for")
    func deadlines() {
        var assignment = announced()
        _ = assignment.stored(5, for: a)
        _ = assignment.revoked([a], lost: false, now: start)
        #expect(assignment.reached(start + .seconds(9)) == .none)
        #expect(assignment.reached(start + .seconds(10)) == .commit([a: 5], token: 1))
        #expect(assignment.reached(start + .seconds(14)) == .none)
        #expect(assignment.reached(start + .seconds(15)) == .unassign([a]))
        #expect(assignment.reached(start + .seconds(99)) == .none)
    }

    @Test("Lost partitions go at once, uncommitted, and the application is told")
    func lost() {
        var assignment = announced()
        _ = assignment.stored(5, for: a)
        #expect(assignment.revoked([a, b], lost: true, now: start) == .unassign([a, b]))
        #expect(assignment.nextAnnouncement() == .revoking(id: 1, [a, b], lost: true))
    }

    @Test("What was never announced is revoked without a word")
    func unannounced() {
        var assignment = make()
        assignment.assigned([a, b])
        #expect(assignment.revoked([a, b], lost: false, now: start) == .unassign([a, b]))
        #expect(assignment.nextAnnouncement() == nil)
    }

    @Test("A part of an unannounced assignment is taken out of it")
    func partlyUnannounced() {
        var assignment = make()
        assignment.assigned([a, b])
        #expect(assignment.revoked([a], lost: false, now: start) == .unassign([a]))
        #expect(assignment.nextAnnouncement() == .assigned([b], epoch: 1))
    }

    @Test("An empty assignment is announced too")
    func empty() {
        var assignment = make()
        assignment.assigned([])
        #expect(assignment.nextAnnouncement() == .assigned([], epoch: 1))
    }

    @Test("Closing completes what waits and announces no more")
    func closing() {
        var assignment = announced()
        _ = assignment.revoked([a], lost: false, now: start)
        #expect(assignment.close(now: start) == .unassign([a]))
        _ = assignment.stored(4, for: b)
        #expect(assignment.revoked([b], lost: false, now: start) == .commit([b: 4], token: 1))
        #expect(assignment.nextAnnouncement() == nil)
    }

    @Test("A lower offset is told apart, and is what a revocation commits")
    func lowerOffset() {
        var assignment = announced()
        let steps = [5, 3, 3, 4].map { assignment.stored($0, for: a) }
        #expect(steps == [false, true, false, false])
        _ = assignment.stored(2, for: a)
        _ = assignment.revoked([a], lost: false, now: start)
        #expect(assignment.completed(1, now: start) == .commit([a: 2], token: 1))
    }

    @Test("Work of an epoch may move the offset until the partition is given back, and never under another epoch")
    func storingByEpoch() {
        var assignment = announced()
        #expect(assignment.mayStore(a, epoch: 1))
        _ = assignment.revoked([a], lost: false, now: start)
        #expect(assignment.mayStore(a, epoch: 1))
        _ = assignment.completed(1, now: start)
        #expect(!assignment.mayStore(a, epoch: 1))
        assignment.assigned([a])
        #expect(!assignment.mayStore(a, epoch: 1))
        #expect(assignment.mayStore(a, epoch: 2))
        _ = assignment.revoked([a], lost: true, now: start)
        #expect(!assignment.mayStore(a, epoch: 2))
    }
}
