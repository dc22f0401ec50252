import Contract
import Scheduling
import Testing

@testable import Kafka

struct OffsetCommitsTests {
    private let a = TopicPartition(topic: "t", partition: 0)
    private let b = TopicPartition(topic: "t", partition: 1)
    private let now = Instant.now

    @Test("One commit at a time; what comes meanwhile waits, the latest of each partition")
    func oneAtATime() {
        var commits = OffsetCommits()
        #expect(commits.next(at: now) == nil)
        commits.add([a: 1])
        #expect(commits.next(at: now) == [a: 1])
        commits.add([a: 2, b: 5])
        commits.add([a: 3])
        #expect(commits.next(at: now) == nil)
        commits.ended(isFailed: false, at: now)
        #expect(commits.next(at: now) == [a: 3, b: 5])
        #expect(!commits.isIdle)
        commits.ended(isFailed: false, at: now)
        #expect(commits.isIdle)
    }

    @Test("A failed commit is sent again after a pause, but for partitions that have a later one or have gone")
    func failed() {
        var commits = OffsetCommits()
        commits.add([a: 1, b: 5])
        #expect(commits.next(at: now) == [a: 1, b: 5])
        commits.add([a: 2])
        commits.ended(isFailed: true, at: now)
        #expect(!commits.isIdle)
        #expect(commits.next(at: now) == nil)
        #expect(commits.next(at: now + OffsetCommits.pause) == [a: 2, b: 5])
        commits.drop(except: [a])
        commits.ended(isFailed: true, at: now)
        #expect(commits.next(at: now + OffsetCommits.pause) == [a: 2])
        commits.ended(isFailed: false, at: now)
        #expect(commits.isIdle)
    }

    @Test("An offset may go back: the owner decides")
    func back() {
        var commits = OffsetCommits()
        commits.add([a: 9])
        commits.add([a: 4])
        #expect(commits.next(at: now) == [a: 4])
    }

    @Test("Nothing is committed while it is held back")
    func heldBack() {
        var commits = OffsetCommits()
        commits.isHeldBack = true
        commits.add([a: 1])
        #expect(commits.next(at: now) == nil)
        commits.isHeldBack = false
        #expect(commits.next(at: now) == [a: 1])
    }

    @Test("Offsets of partitions that have gone are given up")
    func gone() {
        var commits = OffsetCommits()
        commits.add([a: 1, b: 2])
        commits.drop(except: [b])
        #expect(commits.next(at: now) == [b: 2])
        commits.ended(isFailed: false, at: now)
        #expect(commits.next(at: now) == nil)
    }
}
