import CLibrdkafka
import Contract
import Testing

@testable import Kafka

struct PartitionAssignmentTests {
    private let a = TopicPartition(topic: "t", partition: 0)
    private let b = TopicPartition(topic: "t", partition: 1)
    private let c = TopicPartition(topic: "t", partition: 2)

    private func start(_ partition: TopicPartition, _ offset: Int64, id: UInt64 = 1) -> KafkaStart {
        KafkaStart(partition, from: offset, assignmentID: id)
    }

    // MARK: Eager

    @Test("Eager: the group is answered with nothing; what was taken over is assigned together")
    func eager() {
        var assignment = PartitionAssignment()
        #expect(assignment.grant([a, b], isIncremental: false) == .replace([:]))
        #expect(assignment.readings.isEmpty)
        #expect(assignment.start([start(a, 5), start(b, 7)], isIncremental: false) == [.replace([a: 5, b: 7])])
        #expect(assignment.revoke([a, b], isIncremental: false) == .unassign)
        #expect(assignment.granted.isEmpty && assignment.readings.isEmpty)
    }

    @Test("Eager: a further partition, or one anew, begins the others where they are")
    func eagerFurther() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a, b], isIncremental: false)
        _ = assignment.start([start(a, 5)], isIncremental: false)
        assignment.advance(a, to: 9)
        #expect(assignment.start([start(b, 7)], isIncremental: false) == [.replace([a: 9, b: 7])])
        #expect(assignment.start([start(a, 2, id: 4)], isIncremental: false) == [.replace([a: 2, b: 7])])
        #expect(assignment.readings[a]?.assignmentID == 4)
        #expect(assignment.stop([a], isIncremental: false) == [.replace([b: 7])])
        #expect(assignment.granted == [a, b])
    }

    @Test("Eager: a new grant ends what was read before, also without a revocation")
    func eagerAgain() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a], isIncremental: false)
        _ = assignment.start([start(a, 5)], isIncremental: false)
        #expect(assignment.grant([b], isIncremental: false) == .replace([:]))
        #expect(assignment.granted == [b] && assignment.readings.isEmpty)
    }

    // MARK: Cooperative

    @Test("Cooperative: only what was added is removed, even if that is nothing")
    func cooperative() {
        var assignment = PartitionAssignment()
        #expect(assignment.grant([a, b], isIncremental: true) == .add([:]))
        #expect(assignment.start([start(a, 5)], isIncremental: true) == [.add([a: 5])])
        #expect(assignment.grant([c], isIncremental: true) == .add([:]))
        #expect(assignment.granted == [a, b, c])
        #expect(assignment.revoke([b], isIncremental: true) == .remove([]))
        #expect(assignment.revoke([a, c], isIncremental: true) == .remove([a]))
        #expect(assignment.granted.isEmpty)
    }

    @Test("Cooperative: a partition that begins anew is removed first, and no other is touched")
    func cooperativeAgain() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a, b], isIncremental: true)
        _ = assignment.start([start(a, 5), start(b, 5)], isIncremental: true)
        #expect(assignment.start([start(a, 2, id: 2)], isIncremental: true) == [.remove([a]), .add([a: 2])])
        #expect(assignment.stop([b, c], isIncremental: true) == [.remove([b])])
        #expect(assignment.stop([b], isIncremental: true) == [])
    }

    @Test("A take-over of a partition that is not this member's any more begins nothing", arguments: [true, false])
    func late(isIncremental: Bool) {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a, b], isIncremental: isIncremental)
        _ = assignment.revoke([a, b], isIncremental: isIncremental)
        _ = assignment.grant([b], isIncremental: isIncremental)
        #expect(assignment.start([start(a, 5)], isIncremental: isIncremental) == [])
        #expect(
            assignment.start([start(a, 5), start(b, 5)], isIncremental: isIncremental) == [
                isIncremental ? .add([b: 5]) : .replace([b: 5])
            ])
    }

    @Test("The oldest record is librdkafka's own number")
    func oldest() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a], isIncremental: true)
        let calls = assignment.start([KafkaStart(a, from: nil, assignmentID: 1)], isIncremental: true)
        #expect(calls == [.add([a: -2])])
    }

    // MARK: Arrivals

    @Test("Offsets without records are passed over; records gone are told after a reset only")
    func arrivals() throws {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a], isIncremental: true)
        _ = assignment.start([start(a, 10)], isIncremental: true)
        let reading = try #require(assignment.readings[a])
        #expect(PartitionAssignment.arrival(of: 10, in: reading) == .inOrder)
        #expect(PartitionAssignment.arrival(of: 14, in: reading) == .inOrder)
        #expect(PartitionAssignment.arrival(of: 9, in: reading) == .wentBack(expected: 10))
        #expect(assignment.restart(a, after: 10, isIncremental: true) == [.remove([a]), .add([a: -2])])
        let reset = try #require(assignment.readings[a])
        #expect(PartitionAssignment.arrival(of: 14, in: reset) == .afterGone(10..<14))
        #expect(PartitionAssignment.arrival(of: 10, in: reset) == .inOrder)
        #expect(PartitionAssignment.arrival(of: 0, in: reset) == .wentBack(expected: 10))
        assignment.advance(a, to: 15)
        #expect(assignment.readings[a] == .init(assignmentID: 1, next: 15))
    }

    @Test("Eager: a partition whose next record is gone is read from its oldest one, the others go on where they are")
    func restarts() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a, b], isIncremental: false)
        _ = assignment.start([start(a, 10), start(b, 7)], isIncremental: false)
        #expect(assignment.restart(a, after: 10, isIncremental: false) == [.replace([a: -2, b: 7])])
        #expect(assignment.readings[a] == .init(assignmentID: 1, next: 10, isReset: true))
        #expect(assignment.restart(c, after: 10, isIncremental: false) == [])
    }

    @Test("Eager: of several partitions whose next record is gone, none is set back by another, until its record comes")
    func restartsSeveral() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a, b, c], isIncremental: false)
        _ = assignment.start([start(a, 10), start(b, 7)], isIncremental: false)
        _ = assignment.restart(a, after: 10, isIncremental: false)
        #expect(assignment.restart(b, after: 7, isIncremental: false) == [.replace([a: -2, b: -2])])
        #expect(assignment.start([start(c, 3)], isIncremental: false) == [.replace([a: -2, b: -2, c: 3])])
        assignment.advance(a, to: 31)
        #expect(assignment.stop([c], isIncremental: false) == [.replace([a: 31, b: -2])])
    }

    @Test("A partition whose log lost its end is read from its oldest record, also where no offset is named")
    func truncated() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a], isIncremental: true)
        _ = assignment.start([start(a, 10)], isIncremental: true)
        #expect(assignment.restart(a, after: -1001, isIncremental: true) == [.remove([a]), .add([a: -2])])
    }

    @Test("A partition is begun again at its next record when another offset is out of range")
    func restartsInPlace() {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a], isIncremental: true)
        _ = assignment.start([start(a, 10)], isIncremental: true)
        #expect(
            assignment.restart(a, after: 8_596_602_311_718_818_886, isIncremental: true) == [
                .remove([a]), .add([a: 10]),
            ])
        #expect(assignment.readings[a] == .init(assignmentID: 1, next: 10))
    }

    @Test("A broker that does not have an offset is told from other errors, by both of librdkafka's words for it")
    func outOfRange() {
        #expect(ConsumerLoop.isOutOfRange(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET))
        #expect(ConsumerLoop.isOutOfRange(rd_kafka_resp_err_t(-139)))
        #expect(!ConsumerLoop.isOutOfRange(RD_KAFKA_RESP_ERR__BAD_MSG))
    }

    @Test("Where reading begins at the oldest record, those before it are gone that nobody has read")
    func oldestAfterGone() throws {
        var assignment = PartitionAssignment()
        _ = assignment.grant([a], isIncremental: true)
        _ = assignment.start([KafkaStart(a, from: nil, expected: 10, assignmentID: 1)], isIncremental: true)
        let reading = try #require(assignment.readings[a])
        #expect(PartitionAssignment.arrival(of: 14, in: reading) == .afterGone(10..<14))
        #expect(PartitionAssignment.arrival(of: 10, in: reading) == .inOrder)
        #expect(PartitionAssignment.arrival(of: 0, in: reading) == .inOrder)
        assignment.advance(a, to: 1)
        let later = try #require(assignment.readings[a])
        #expect(PartitionAssignment.arrival(of: 14, in: later) == .inOrder)
    }

    @Test("Any offset may be the oldest one")
    func oldestArrives() {
        let reading = PartitionAssignment.Reading(assignmentID: 1, next: -2)
        #expect(PartitionAssignment.arrival(of: 0, in: reading) == .inOrder)
        #expect(PartitionAssignment.arrival(of: 1000, in: reading) == .inOrder)
    }

    @Test("A damaged batch may begin before the next record, and tells as much as a whole one where that was gone")
    func damaged() {
        var reading = PartitionAssignment.Reading(assignmentID: 1, next: 10)
        for offset in [7, 10, 12] as [Int64] {
            #expect(PartitionAssignment.arrival(ofDamaged: offset, in: reading) == .inOrder)
            #expect(PartitionAssignment.firstDamaged(offset, in: reading) == 10)
        }
        let oldest = PartitionAssignment.Reading(assignmentID: 1, next: -2, expected: 10)
        #expect(PartitionAssignment.arrival(ofDamaged: 7, in: oldest) == .inOrder)
        #expect(PartitionAssignment.arrival(ofDamaged: 12, in: oldest) == .afterGone(10..<12))
        #expect(PartitionAssignment.firstDamaged(12, in: oldest) == 12)
        reading.isReset = true
        #expect(PartitionAssignment.firstDamaged(12, in: reading) == 12)
        #expect(PartitionAssignment.arrival(ofDamaged: 7, in: reading) == .wentBack(expected: 10))
        #expect(PartitionAssignment.arrival(ofDamaged: 12, in: reading) == .afterGone(10..<12))
    }
}
