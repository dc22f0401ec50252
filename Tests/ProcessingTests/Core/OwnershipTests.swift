import Contract
import Ledger
import Testing

@testable import Processing

@Suite("Partitions of the group")
struct OwnershipTests {
    private let bench = CoreBench()

    private func assign() {
        bench.send(.assigned([Fixture.partition]))
    }

    private func takeOverRequest() throws -> (id: RequestID, takeOver: TakeOver) {
        let (id, list) = try #require(bench.takeRequest { if case .takeOver(let list) = $0 { list } else { nil } })
        return (id, try #require(list.first))
    }

    @Test(
        "are read from the smaller of the ledger's offset and the group's; none counts as the oldest record"
    )
    func start() {
        #expect(Partitions.start(next: 5, committed: 9) == 5)
        #expect(Partitions.start(next: 9, committed: 5) == 5)
        #expect(Partitions.start(next: 9, committed: nil) == nil)
        #expect(Partitions.start(next: nil, committed: nil) == nil)
        #expect(
            Partitions.start(next: nil, committed: 7) == nil, "the ledger was set back to before its first offset")
    }

    @Test("are taken over in the ledger before they are read, and the group's offsets are known before that")
    func order() throws {
        assign()
        #expect(bench.requests.isEmpty, "the committed offset is not known yet")
        let assignment = try bench.takeOver(next: 5, committed: 9)
        #expect(assignment.start == 5)
    }

    @Test("are taken over as unread ones of a topic that the group has read, where another one has an offset")
    func othersAreCommitted() throws {
        for (offset, isTopicCommitted) in [(nil, false), (7, true)] as [(Int64?, Bool)] {
            let bench = CoreBench()
            bench.send(.assigned([Fixture.partition]))
            let other = TopicPartition(topic: Fixture.partition.topic, partition: 99)
            bench.send(
                .committed([
                    CommittedOffset(partition: Fixture.partition, offset: nil),
                    CommittedOffset(partition: other, offset: offset),
                ]))
            let (_, list) = try #require(bench.takeRequest { if case .takeOver(let list) = $0 { list } else { nil } })
            #expect(list.map(\.ownership.partition) == [Fixture.partition])
            #expect(list.map(\.committed) == [nil])
            #expect(list.map(\.isTopicCommitted) == [isTopicCommitted])
        }
    }

    @Test("are read whole once their offsets went back, until the ledger has a checkpoint of it")
    func wentBack() throws {
        assign()
        let first = try bench.takeOver(next: 9, committed: 9)
        bench.send(.wentBack(first.id))
        let second = try bench.takeOver(next: 9, committed: 9)
        #expect(second.start == nil)
        bench.send(.wentBack(first.id))
        #expect(bench.fetches.isEmpty, "an earlier assignment is over")
        func checkpoint() throws -> RequestID {
            let (id, checkpoints) = try #require(
                bench.takeRequest { if case .checkpoint(let list) = $0 { list } else { nil } })
            #expect(checkpoints.map(\.next) == [0], "at once: another owner would start at nine")
            return id
        }
        let early = try checkpoint()
        bench.conclude(try #require(bench.read(0, in: second).first), .rejected(Rejection(.unknownApp, "No such app.")))
        try bench.written(.written(.failed(reason: "unknown_app"), publish: []))
        bench.send(.wentBack(second.id))
        let third = try bench.takeOver(next: 9, committed: 9)
        #expect(third.start == nil, "a record is here, and the ledger says nine still")
        bench.send(.ledger(early, .success(.checkpointed([false]))))
        bench.send(.ledger(try checkpoint(), .success(.checkpointed([true]))))
        #expect(bench.takeCommits().map(\.offset) == [0])
        bench.send(.unreadable(third.id, at: 0))
        bench.wait(.seconds(5))
        #expect(try bench.takeOver(next: 5, committed: 5).start == 5)
    }

    @Test("whose offsets went back are taken over anew once all that was read is complete: it may stand nowhere else")
    func wentBackInFlight() throws {
        let first = try bench.own(next: 9, committed: 9)
        let check = try #require(bench.read(9, in: first).first)
        bench.send(.wentBack(first.id))
        #expect(try bench.checkpointed().map(\.next) == [0], "at once: another owner would start at nine")
        bench.wait(.seconds(600))
        #expect(bench.fetches.isEmpty && bench.takeUnassigned().isEmpty)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        bench.published(try #require(bench.takePublishes().first))
        let checkpoint = bench.takeRequest { if case .checkpoint(let list) = $0 { list } else { nil } }
        #expect(checkpoint == nil, "other records stand there now")
        #expect(bench.takeUnassigned() == [Fixture.partition])
        #expect(try bench.takeOver(next: 0, committed: 0).start == nil)
    }

    @Test("are calm once no record has come for half a minute: their starts are forgotten")
    func calm() throws {
        let assignment = try bench.own(next: 9, committed: 9, starts: 3)
        bench.wait(.seconds(29))
        #expect(bench.takeRequest { if case .checkpoint(let checkpoints) = $0 { checkpoints } else { nil } } == nil)
        bench.wait(.seconds(1))
        #expect(try bench.checkpointed().map(\.next) == [nil])
        #expect(bench.takeCommits().map(\.offset) == [9])
        #expect(bench.read(9, 10, in: assignment).count == 2, "no record waits for a mark")
    }

    @Test("are calm where full retries keep records away for as long: rollouts meanwhile make no record suspect")
    func calmWhileFull() throws {
        let full = LedgerMeasure.App(bundleID: Fixture.app, rows: 9, bytes: 4 << 30)
        let none = bench.measure
        bench.measure = LedgerMeasure(retries: [full], waiting: [], outboxRows: 0, outboxAge: 0)
        let assignment = try bench.own(next: 9, committed: 9, starts: 7)
        bench.wait(.seconds(30))
        #expect(try bench.checkpointed().map(\.next) == [nil])
        bench.measure = none
        bench.wait(.seconds(25))
        #expect(bench.read(9, 10, in: assignment).count == 2, "no record waits for a mark")
    }

    @Test("wait for the group's offsets as long as the broker does not tell them")
    func committedUnknown() throws {
        assign()
        bench.send(.committed(nil))
        #expect(bench.fetches.count == 1)
        bench.wait(.seconds(1))
        #expect(bench.fetches.count == 2)
        #expect(bench.assigned.isEmpty)
    }

    @Test("end the worker where the ledger knows nothing of a partition that the group has offsets for")
    func forgotten() throws {
        assign()
        bench.send(.committed([CommittedOffset(partition: Fixture.partition, offset: 7)]))
        let (id, takeOver) = try takeOverRequest()
        #expect(takeOver.committed == 7)
        bench.send(.ledger(id, .success(.takenOver([.forgotten(ledger: "L1")]))))
        #expect(bench.stop == .forgotten(ledger: "L1"))
        #expect(bench.assigned.isEmpty)
    }

    @Test("are taken over under another generation each time")
    func generations() throws {
        var seen: Set<Generation> = []
        for _ in 0..<50 {
            assign()
            bench.send(.committed([CommittedOffset(partition: Fixture.partition, offset: 0)]))
            let (id, takeOver) = try takeOverRequest()
            #expect(seen.insert(takeOver.ownership.generation).inserted)
            let start = PartitionStart(next: 0, highestOrigin: nil, starts: 1, suspect: nil)
            bench.send(.ledger(id, .success(.takenOver([.taken(start)]))))
            bench.send(.revoked([Fixture.partition]))
        }
    }

    @Test("keep asking for a take-over that the ledger did not answer, and read nothing meanwhile")
    func takeOverUnanswered() throws {
        assign()
        bench.send(.committed([CommittedOffset(partition: Fixture.partition, offset: 0)]))
        let (id, first) = try takeOverRequest()
        bench.send(.ledger(id, .failure(.unavailable(detail: "away"))))
        bench.wait(.seconds(1))
        let (again, second) = try takeOverRequest()
        #expect(first == second)
        #expect(again == id)
        #expect(bench.assigned.isEmpty)
    }

    @Test("that are revoked while the ledger is away are not taken over once it is back")
    func revokedUnanswered() throws {
        let other = TopicPartition(topic: Fixture.topic, partition: 1)
        bench.send(.assigned([Fixture.partition, other]))
        bench.send(.committed([Fixture.partition, other].map { CommittedOffset(partition: $0, offset: 0) }))
        let (id, _) = try takeOverRequest()
        bench.send(.ledger(id, .failure(.unavailable(detail: "away"))))
        bench.send(.revoked([Fixture.partition]))
        bench.wait(.seconds(1))
        let (_, again) = try takeOverRequest()
        #expect(again.ownership.partition == other)
        #expect(bench.takeRequest { if case .takeOver = $0 { true } else { nil } } == nil)
    }

    @Test("that are revoked during their take-over are not taken back if it has no result, and the others are taken")
    func revokedDuringTakeOver() throws {
        let other = TopicPartition(topic: Fixture.topic, partition: 1)
        bench.send(.assigned([Fixture.partition, other]))
        bench.send(.committed([Fixture.partition, other].map { CommittedOffset(partition: $0, offset: 0) }))
        let (id, _) = try takeOverRequest()
        bench.send(.revoked([Fixture.partition]))
        bench.send(.ledger(id, .failure(.unavailable(detail: "away"))))
        bench.wait(.seconds(1))
        let (_, again) = try #require(bench.takeRequest { if case .takeOver(let list) = $0 { list } else { nil } })
        #expect(again.map(\.ownership.partition) == [other])
        #expect(bench.takeRequest { if case .takeOver = $0 { true } else { nil } } == nil)
    }

    /// An operator has passed all before 13, and the group's offset is 9.
    private func takeOverPassed() throws {
        try bench.answerTakeOver(
            committed: 9, PartitionStart(next: 13, passed: 13, highestOrigin: nil, starts: 1, suspect: nil))
    }

    @Test("follow what an operator passed: the group's offset is put behind it before they are read")
    func passed() throws {
        assign()
        try takeOverPassed()
        #expect(bench.takeCommits() == [CommittedOffset(partition: Fixture.partition, offset: 13)])
        #expect(bench.assigned.isEmpty, "the ledger would not forget what was passed, and hide a later reset")
        bench.wait(.seconds(1))
        let assignment = try bench.takeOver(next: 13, committed: 13, starts: 4)
        #expect(assignment.start == 13)
        #expect(bench.read(13, 14, in: assignment).count == 2, "not one by one: this worker's take-over is no start")
        #expect(bench.takeAlerts().isEmpty)
    }

    @Test("follow what an operator passed until the group's offset is there")
    func passedAgain() throws {
        assign()
        for _ in 0..<3 {
            try takeOverPassed()
            #expect(bench.takeCommits().map(\.offset) == [13])
            bench.wait(.seconds(1))
        }
        #expect(bench.assigned.isEmpty)
    }

    @Test("do not follow what an operator passed of a topic that was made anew meanwhile")
    func passedAnew() throws {
        let assignment = try bench.own(next: 100, committed: 100)
        bench.send(.wentBack(assignment.id))
        _ = bench.takeUnassigned()
        try bench.answerTakeOver(
            committed: 100, PartitionStart(next: 200, passed: 200, highestOrigin: nil, starts: 1, suspect: nil))
        #expect(bench.takeCommits().isEmpty)
        #expect(bench.assigned.last?.start == nil && !bench.assigned.isEmpty)
    }

    @Test("tell of a ledger that was set back before this worker started: the group knows more")
    func setBackBefore() throws {
        #expect(try bench.own(next: 5, committed: 9).start == 5)
        #expect(bench.takeAlerts() == [.ledgerSetBack(Fixture.partition, checkpoint: 9, found: 5)])
    }

    @Test("that are revoked have no more checkpoints and commits")
    func revoked() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        let publish = try #require(bench.takePublishes().first)
        bench.send(.revoked([Fixture.partition]))
        bench.published(publish)
        bench.wait(.seconds(3))
        #expect(bench.requests.isEmpty)
        #expect(bench.takeCommits().isEmpty)
        #expect(bench.core.inFlight == 0)
    }

    @Test("that are revoked while a batch is at the ledger are told all the same: it was written")
    func toldAfterRevoke() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.send(.revoked([Fixture.partition]))
        bench.send(
            .written(batch.id, .success([.written(.granted(created: 1), publish: [Fixture.rendered("t1")])])))
        let publish = try #require(bench.takePublishes().first)
        bench.published(publish, .failed)
        #expect(bench.requests.isEmpty, "nothing is owed under an ownership that is over")
        #expect(bench.core.inFlight == 0, "the new owner reads it again")
    }

    @Test("that are assigned again do not pass offsets for what was read before")
    func assignedAgain() throws {
        let old = try #require(bench.read(0, in: try bench.own()).first)
        bench.send(.revoked([Fixture.partition]))
        bench.send(.assigned([Fixture.partition]))
        let assignment = try bench.takeOver()
        let new = try #require(bench.read(0, in: assignment).first)
        bench.conclude(old, .rejected(Rejection(.receiptMalformed, "No receipt.")))
        bench.wait(.seconds(3))
        #expect(bench.writes.isEmpty, "its submission was dropped")
        bench.conclude(new, .rejected(Rejection(.receiptMalformed, "No receipt.")))
        try bench.written(.written(.failed(reason: "receipt_malformed"), publish: []))
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("drop records of an assignment that has ended")
    func staleRecords() throws {
        let old = try bench.own()
        bench.send(.revoked([Fixture.partition]))
        bench.send(.assigned([Fixture.partition]))
        try bench.takeOver()
        #expect(bench.read(0, in: old).isEmpty)
    }

    @Test("that another worker writes for are let go, and taken over anew after a pause")
    func lost() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.notOwned)
        #expect(bench.takeAlerts() == [.ownershipLost(Fixture.partition)])
        #expect(bench.takeUnassigned() == [Fixture.partition])
        #expect(bench.core.inFlight == 0)
        #expect(bench.fetches.isEmpty)
        bench.wait(.seconds(5))
        try bench.takeOver(next: 0, committed: 0)
    }

    @Test("are all taken over anew with a new connection: the ledger may have lost its last writes")
    func disconnected() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.send(.written(batch.id, .failure(.disconnected(detail: "closed"))))
        #expect(bench.takeUnassigned() == [Fixture.partition])
        #expect(bench.core.inFlight == 0, "what was under way is read again")
        let assignment = try bench.takeOver(next: 0, committed: 0, highestOrigin: 0)
        bench.wait(.seconds(1))
        let demand = try #require(bench.demand)
        #expect(assignment.start == 0)
        #expect(demand.records > 1, "the next write finds out whether the ledger is back")
    }

    /// The ledger has 1 as the checkpoint of the partition, which then goes and comes back.
    private func checkpointAndComeBack() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .rejected(Rejection(.receiptMalformed, "No receipt.")))
        try bench.written(.written(.failed(reason: "receipt_malformed"), publish: []))
        try bench.checkpointed()
        bench.send(.revoked([Fixture.partition]))
        bench.send(.assigned([Fixture.partition]))
    }

    @Test("tell of a ledger that was set back, and are read from where it stands")
    func setBack() throws {
        try checkpointAndComeBack()
        let assignment = try bench.takeOver(next: 0, committed: 1)
        #expect(assignment.start == 0)
        #expect(bench.takeAlerts() == [.ledgerSetBack(Fixture.partition, checkpoint: 1, found: 0)])
    }

    @Test("tell of no ledger that was set back where another worker has written a lower checkpoint meanwhile")
    func checkpointByAnother() throws {
        try checkpointAndComeBack()
        #expect(try bench.takeOver(next: 0, committed: 0).start == 0)
        #expect(bench.takeAlerts().isEmpty)
    }

    @Test("whose offsets go back are taken over anew: the topic is another one")
    func offsetsGoBack() throws {
        let assignment = try bench.own(next: 100, committed: 100)
        let check = try #require(bench.read(100, in: assignment).first)
        bench.read(3, in: assignment)
        #expect(bench.takeUnassigned().isEmpty && bench.core.inFlight == 1, "what was read is decided first")
        bench.conclude(check, .rejected(Rejection(.receiptMalformed, "No receipt.")))
        try bench.written(.written(.failed(reason: "receipt_malformed"), publish: []))
        #expect(bench.takeUnassigned() == [Fixture.partition])
        let next = try bench.takeOver(next: 100, committed: 100)
        #expect(bench.read(3, 4, in: next).count == 2)
        #expect(try bench.checkpointed().map(\.next) == [0], "the ledger hears of it at once")
        #expect(try bench.checkpointed().map(\.next) == [3])
    }

    @Test("commit nothing to the group where the ledger says that a checkpoint came too late")
    func checkpointTooLate() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .rejected(Rejection(.receiptMalformed, "No receipt.")))
        try bench.written(.written(.failed(reason: "receipt_malformed"), publish: []))
        try bench.checkpointed(false)
        #expect(bench.takeCommits().isEmpty)
        #expect(bench.takeUnassigned() == [Fixture.partition])
    }
}
