import Contract
import Ledger

extension LedgerConformance {
    private static let other = TopicPartition(topic: "receipts.submitted", partition: 4)

    private static func start(_ result: TakeOverResult?) throws -> PartitionStart {
        guard case .taken(let start)? = result else {
            throw Violation(description: "not taken: \(String(describing: result))")
        }
        return start
    }

    private static func takeOver(
        _ generation: Int64, committed: Int64?, _ subject: ConformanceSubject
    ) throws -> PartitionStart {
        let request = TakeOver(ownership: Samples.ownership(generation), owner: "worker", committed: committed)
        return try start(subject.ledger.takeOver([request]).first)
    }

    /// Takes a partition over while the group has an offset of its topic.
    private static func take(
        _ partition: TopicPartition, _ committed: Int64?, _ subject: ConformanceSubject
    ) throws -> TakeOverResult? {
        let ownership = PartitionOwnership(partition: partition, generation: Generation(rawValue: 9))
        return try subject.ledger.takeOver([
            TakeOver(ownership: ownership, owner: "worker", committed: committed, isTopicCommitted: true)
        ]).first
    }

    private static func pass(_ offsets: ClosedRange<Int64>, _ subject: ConformanceSubject) throws -> PassResult? {
        let note = OperatorNote(actor: "kim", reason: "A damaged batch.", at: Samples.noon)
        guard let passed = PassedOffsets(partition: Samples.partition, offsets: offsets) else { return nil }
        return try subject.ledger.pass(passed, note)
    }

    static let partitionRules: [ConformanceRule] = [
        ConformanceRule("A partition starts at its checkpoint, and says how high its rows are") { subject in
            try expect(
                try start(subject.own(1)), PartitionStart(next: nil, highestOrigin: nil, starts: 1, suspect: nil), "new"
            )
            try subject.write(Samples.grant(Samples.submission("s1", offset: 5), Samples.purchase("1")))
            let checkpoints = [OffsetCheckpoint(ownership: Samples.ownership(1), next: 4)]
            try expect(try subject.ledger.checkpoint(checkpoints), [true], "checkpoint")
            try expect(
                try start(subject.own(2)), PartitionStart(next: 4, highestOrigin: 5, starts: 1, suspect: nil),
                "taken over")
            try subject.write(
                Samples.fail(Samples.submission("s2", offset: 6), generation: 2))
            try expect(try start(subject.own(3)).highestOrigin, 6, "with an answer")
            try subject.write(
                Samples.decision(
                    Samples.submission("s3", offset: 9),
                    .wait(
                        RetryEntry(
                            cause: .held(.unknownAnswer), detail: "", delay: 0, history: AttemptHistory(), doubt: nil,
                            isSigned: false, purchases: [])), generation: 3))
            try expect(try start(subject.own(4)).highestOrigin, 9, "with a row of retries")
            try expect(try start(subject.own(1, other)).highestOrigin, nil, "another partition")
        },
        ConformanceRule("An old generation writes nothing") { subject in
            try subject.own(1)
            try subject.own(2)
            for decision in [
                Samples.grant(Samples.submission("s1"), Samples.purchase("1")),
                Samples.grant(Samples.submission("s2"), Samples.purchase("2"), Samples.purchase("3"), owesCall: true),
                Samples.fail(Samples.submission("s3")), Samples.wait(Samples.submission("s4")),
            ] {
                try expect(try subject.write(decision)[0], .notOwned, "result")
            }
            try expect(try subject.grantRows().count, 0, "grants")
            for state in SubmissionState.allCases {
                try expect(try subject.ledger.submissions(SubmissionQuery(state: state)).count, 0, state.rawValue)
            }
            try expect(
                try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: 9)]), [false],
                "checkpoint")
            try expect(
                try subject.ledger.mark([CheckMark(ownership: Samples.ownership(1), ended: nil, begins: 9)]), [false],
                "mark")
            try expect(try start(subject.own(3)).next, nil, "the next offset")
        },
        ConformanceRule("Decisions of two partitions count by their own generations") { subject in
            try subject.own(1)
            try subject.own(7, other)
            let elsewhere = Submission(
                claimant: Claimant(
                    submissionID: "s2", userID: "player-1", bundleID: Samples.app, orderID: nil, traceparent: nil),
                claim: .nothing,
                evidence: .transactionID("2"),
                origin: Origin(topic: other.topic, partition: other.partition, offset: 1),
                receivedAt: Samples.noon)
            func decide(_ generation: Int64) -> Decision {
                Decision(
                    subject: .submission(elsewhere),
                    source: .record(
                        PartitionOwnership(partition: other, generation: Generation(rawValue: generation))),
                    content: .grant([Samples.purchase("2")], by: .serverAPI), attempts: 1, decidedAt: Samples.noon,
                    owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
            }
            let results = try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1")), decide(1))
            try expect(results[0].outcome, .granted(created: 1), "the owned one")
            try expect(results[1], .notOwned, "the one under the other's generation")
            try expect(try subject.write(decide(7))[0].outcome, .granted(created: 1), "under its own")
            try expect(try subject.grantRows().map(\.origin.partition), [4, 3], "origins")
        },
        ConformanceRule("Starts are counted until the offset moves") { subject in
            try expect(try start(subject.own(1)).starts, 1, "first")
            try expect(try start(subject.own(2)).starts, 2, "second")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(2), next: 10)])
            try expect(try start(subject.own(3)).starts, 1, "behind a checkpoint")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(3), next: 10)])
            try expect(try start(subject.own(4)).starts, 2, "behind the same checkpoint")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(4), next: nil)])
            let calm = try start(subject.own(5))
            try expect(calm.starts, 1, "where nothing was read")
            try expect(calm.next, 10, "the offset stays")
        },
        ConformanceRule("A take-over counts a check that has begun, until it ends or is passed") { subject in
            func mark(_ generation: Int64, ended: Int64? = nil, begins: Int64? = nil) throws {
                let mark = CheckMark(ownership: Samples.ownership(generation), ended: ended, begins: begins)
                try expect(try subject.ledger.mark([mark]), [true], "mark")
            }
            try subject.own(1)
            try mark(1, begins: 12)
            try expect(try start(subject.own(2)).suspect, CheckSuspect(offset: 12, ends: 1), "begun")
            try expect(try start(subject.own(2)).suspect, CheckSuspect(offset: 12, ends: 1), "taken over twice alike")
            try expect(try start(subject.own(3)).suspect, CheckSuspect(offset: 12, ends: 1), "not begun again")
            try mark(3, begins: 11)
            try mark(3, ended: 11, begins: 12)
            try expect(try start(subject.own(4)).suspect, CheckSuspect(offset: 12, ends: 2), "begun once more")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(4), next: 12)])
            try expect(try start(subject.own(5)).suspect, CheckSuspect(offset: 12, ends: 2), "complete before it")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(5), next: 13)])
            try expect(try start(subject.own(6)).suspect, nil, "complete behind it")
            try mark(6, begins: 14)
            try expect(try start(subject.own(7)).suspect, CheckSuspect(offset: 14, ends: 1), "another one")
            try mark(7, begins: 14)
            try mark(7, ended: 14)
            try expect(try start(subject.own(8)).suspect, nil, "ended")
            try mark(8, begins: 14)
            try expect(try start(subject.own(9)).suspect, CheckSuspect(offset: 14, ends: 1), "begun again")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(9), next: nil)])
            try expect(try start(subject.own(10)).suspect, nil, "no record is there")
        },
        ConformanceRule("A checkpoint may go back") { subject in
            try subject.own(1)
            for next in [100, 3] as [Int64] {
                _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: next)])
            }
            try expect(try start(subject.own(2)).next, 3, "next")
        },
        ConformanceRule("A group with offsets does not start on a ledger that does not know it") { subject in
            let request = TakeOver(ownership: Samples.ownership(1), owner: "worker", committed: 500)
            let id = try subject.ledger.identity()
            try expect(try subject.ledger.takeOver([request]), [.forgotten(ledger: id)], "before")
            try expect(try subject.ledger.knows([Samples.partition]), false, "known before")
            try expect(
                try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0], .notOwned,
                "a write")
            let note = OperatorNote(actor: "kim", reason: "Restored on purpose.", at: Samples.noon)
            let committed: [TopicPartition: Int64] = [Samples.partition: 480]
            try expect(
                try subject.ledger.accept(ledger: "another", for: Samples.group, committed, note), false, "another id")
            try expect(try subject.ledger.takeOver([request]), [.forgotten(ledger: id)], "still")
            try expect(try subject.ledger.accept(ledger: id, for: Samples.group, committed, note), true, "accepted")
            try expect(try subject.ledger.knows([Samples.partition]), true, "known once it is accepted")
            try expect(try subject.ledger.actions(on: nil).map(\.note), [note], "actions")
            let accepted = try start(subject.ledger.takeOver([request]).first)
            try expect(accepted.starts, 1, "after")
            try expect(accepted.next, 480, "where the group was when it was accepted")
        },
        ConformanceRule("A partition that the group has not read does not make a ledger known") { subject in
            let id = try subject.ledger.identity()
            try expect(try take(other, nil, subject), .forgotten(ledger: id), "without an offset")
            try expect(try take(Samples.partition, 500, subject), .forgotten(ledger: id), "with one")
            let note = OperatorNote(actor: "kim", reason: "A new ledger.", at: Samples.noon)
            try expect(
                try subject.ledger.accept(ledger: id, for: Samples.group, [Samples.partition: 480], note), true,
                "accepted")
            try expect(try start(take(Samples.partition, 500, subject)).next, 480, "at its offset")
            try expect(try start(take(other, nil, subject)).next, 0, "its oldest record")
            let added = TopicPartition(topic: other.topic, partition: 77)
            try expect(try start(take(added, nil, subject)).next, nil, "a partition that is added later")
        },
        ConformanceRule("A refused partition is accepted with its topic, though all that are committed are known") {
            subject in
            let id = try subject.ledger.identity()
            try subject.own()
            try expect(try take(other, nil, subject), .forgotten(ledger: id), "there was no checkpoint of the topic")
            let note = OperatorNote(actor: "kim", reason: "An older back-up.", at: Samples.noon)
            try expect(
                try subject.ledger.accept(ledger: id, for: Samples.group, [Samples.partition: 480], note), true,
                "accepted")
            try expect(try start(take(other, nil, subject)).next, 0, "its oldest record")
        },
        ConformanceRule("A partition that a ledger does not know is read whole where it knows its topic") { subject in
            let id = try subject.ledger.identity()
            let note = OperatorNote(actor: "kim", reason: "A new ledger.", at: Samples.noon)
            _ = try subject.ledger.accept(ledger: id, for: Samples.group, [Samples.partition: 480], note)
            let added = TakeOver(
                ownership: PartitionOwnership(partition: other, generation: Generation(rawValue: 9)), owner: "worker",
                committed: 70)
            try expect(try subject.ledger.knows([other]), true, "known")
            _ = try subject.ledger.accept(ledger: id, for: Samples.group, [Samples.partition: 500, other: 70], note)
            try expect(try start(subject.ledger.takeOver([added]).first).next, nil, "the oldest record")
            try expect(try start(subject.own(1)).next, 480, "accepting again passes over nothing")
            let elsewhere = TopicPartition(topic: "another", partition: 0)
            let foreign = TakeOver(
                ownership: PartitionOwnership(partition: elsewhere, generation: Generation(rawValue: 9)),
                owner: "worker", committed: 70)
            try expect(try subject.ledger.takeOver([foreign]), [.forgotten(ledger: id)], "another topic")
        },
        ConformanceRule("A refusal stands, whatever checkpoints other partitions have") { subject in
            let id = try subject.ledger.identity()
            let request = TakeOver(
                ownership: PartitionOwnership(partition: other, generation: Generation(rawValue: 9)), owner: "worker",
                committed: 70)
            try subject.own(1)
            try expect(try subject.ledger.takeOver([request]), [.forgotten(ledger: id)], "refused")
            try expect(
                try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: 4)]), [true],
                "checkpoint")
            try expect(try subject.ledger.takeOver([request]), [.forgotten(ledger: id)], "still refused")
            try expect(try subject.ledger.knows([other]), false, "known")
            try expect(try subject.ledger.partitions().map(\.partition), [Samples.partition], "partitions")
            let note = OperatorNote(actor: "kim", reason: "A new ledger.", at: Samples.noon)
            let committed: [TopicPartition: Int64] = [Samples.partition: 2, other: 69]
            try expect(try subject.ledger.accept(ledger: id, for: Samples.group, committed, note), true, "accepted")
            try expect(try start(subject.ledger.takeOver([request]).first).next, 69, "the accepted one")
            try expect(try start(subject.own(2)).next, 4, "the one that is known stays as it is")
        },
        ConformanceRule("A group without an offset ends a refusal") { subject in
            func request(_ committed: Int64?) -> TakeOver {
                TakeOver(ownership: Samples.ownership(1), owner: "worker", committed: committed)
            }
            let id = try subject.ledger.identity()
            try expect(try subject.ledger.takeOver([request(5)]), [.forgotten(ledger: id)], "refused")
            try expect(try start(subject.ledger.takeOver([request(nil)]).first).next, nil, "taken")
            try expect(try start(subject.ledger.takeOver([request(5)]).first).next, nil, "known from then on")
        },
        ConformanceRule("Passed offsets are told, and reading goes on behind them") { subject in
            try subject.own(1)
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: 10)])
            try expect(try pass(9...12, subject), .standsAt(10), "not from where it stands")
            try expect(try pass(0...10_000, subject), nil, "too many")
            try expect(try pass(10...12, subject), .passed, "passed")
            let stubs = try subject.drain()
            try expect(stubs.count, 3, "stubs")
            try expect(Set(stubs.map(\.topic)), [.quarantined], "their topic")
            try expect(
                try subject.ledger.actions(on: nil).map(\.note.reason),
                ["receipts.submitted/3, offsets 10 to 12: A damaged batch."], "actions")
            try expect(
                try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: 11)]), [false],
                "a checkpoint of the owner before")
            try expect(
                try subject.write(Samples.fail(Samples.submission("s1", offset: 10)))[0], .notOwned, "its write")
            let first = try takeOver(2, committed: 8, subject)
            try expect([first.next, first.passed], [13, 13], "the group is not there yet")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(2), next: 20)])
            try expect(try takeOver(3, committed: 12, subject).passed, 13, "nor now")
            try expect(try takeOver(4, committed: 13, subject).passed, nil, "it is")
            try expect(
                try takeOver(5, committed: 3, subject).passed, nil, "and was: a group that is set back reads again")
        },
        ConformanceRule("A partition that nobody has read past its first record can be passed from there") { subject in
            try expect(try pass(0...2, subject), .standsAt(nil), "not known")
            try subject.own(1)
            try expect(try pass(0...2, subject), .standsAt(nil), "without a checkpoint")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: 0)])
            try expect(try pass(0...2, subject), .passed, "passed")
            try expect(try subject.drain().count, 3, "stubs")
            let start = try takeOver(2, committed: 0, subject)
            try expect([start.next, start.passed], [3, 3], "behind them")
            try expect(try takeOver(3, committed: 3, subject).passed, nil, "the group is there")
        },
        ConformanceRule("A topic that was made anew has no passed offsets") { subject in
            try subject.own(1)
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(1), next: 10)])
            try expect(try pass(10...10, subject), .passed, "passed")
            try expect(try takeOver(2, committed: 10, subject).passed, 11, "in force")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(2), next: 0)])
            try expect(try takeOver(3, committed: 10, subject).passed, nil, "after a checkpoint from before them")
            _ = try subject.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(3), next: 20)])
            try expect(try pass(20...20, subject), .passed, "passed again")
            try expect(try takeOver(4, committed: nil, subject).passed, nil, "where the group has no offset")
        },
    ]
}
