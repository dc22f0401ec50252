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

    static let partitionRules: [ConformanceRule] = [
        ConformanceRule("A partition starts where it was noted, and says how high its rows are") { subject in
            try expect(
                try start(subject.own(1)), PartitionStart(next: nil, highestOrigin: nil, starts: 1, suspect: nil), "new"
            )
            try subject.write(Samples.grant(Samples.submission("s1", offset: 5), Samples.purchase("1")))
            let notes = [OffsetNote(ownership: Samples.ownership(1), next: 4)]
            try expect(try subject.ledger.note(notes), [true], "note")
            try expect(
                try start(subject.own(2)), PartitionStart(next: 4, highestOrigin: 5, starts: 1, suspect: nil),
                "taken over")
            try subject.write(
                Samples.fail(Samples.submission("s2", offset: 6), generation: 2))
            try expect(try start(subject.own(3)).highestOrigin, 6, "with an answer")
            try subject.write(
                Samples.decision(
                    Samples.submission("s3", offset: 9),
                    .retry(RetryEntry(cause: .held(.unknownAnswer), detail: "", delay: 0)), generation: 3))
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
                try subject.ledger.note([OffsetNote(ownership: Samples.ownership(1), next: 9)]), [false], "note")
            try expect(
                try subject.ledger.mark([CheckMark(ownership: Samples.ownership(1), ended: nil, begins: 9)]), [false],
                "mark")
            try expect(try start(subject.own(3)).next, nil, "the next offset")
        },
        ConformanceRule("Decisions of two partitions count by their own generations") { subject in
            try subject.own(1)
            try subject.own(7, other)
            let elsewhere = Submission(
                claimant: Claimant(submissionID: "s2", userID: "player-1", bundleID: Samples.app),
                evidence: .transactionID("2"),
                origin: Origin(topic: other.topic, partition: other.partition, offset: 1),
                receivedAt: Samples.noon)
            func decide(_ generation: Int64) -> Decision {
                Decision(
                    subject: .submission(elsewhere),
                    source: .record(
                        PartitionOwnership(partition: other, generation: Generation(rawValue: generation))),
                    content: .grant([Samples.purchase("2")], by: .serverAPI), attempts: 1, decidedAt: Samples.noon)
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
            _ = try subject.ledger.note([OffsetNote(ownership: Samples.ownership(2), next: 10)])
            try expect(try start(subject.own(3)).starts, 1, "behind a note")
            _ = try subject.ledger.note([OffsetNote(ownership: Samples.ownership(3), next: 10)])
            try expect(try start(subject.own(4)).starts, 2, "behind the same note")
            _ = try subject.ledger.note([OffsetNote(ownership: Samples.ownership(4), next: nil)])
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
            _ = try subject.ledger.note([OffsetNote(ownership: Samples.ownership(4), next: 12)])
            try expect(try start(subject.own(5)).suspect, CheckSuspect(offset: 12, ends: 2), "complete before it")
            _ = try subject.ledger.note([OffsetNote(ownership: Samples.ownership(5), next: 13)])
            try expect(try start(subject.own(6)).suspect, nil, "complete behind it")
            try mark(6, begins: 14)
            try expect(try start(subject.own(7)).suspect, CheckSuspect(offset: 14, ends: 1), "another one")
            try mark(7, begins: 14)
            try mark(7, ended: 14)
            try expect(try start(subject.own(8)).suspect, nil, "ended")
        },
        ConformanceRule("A note may go back") { subject in
            try subject.own(1)
            for next in [100, 3] as [Int64] {
                _ = try subject.ledger.note([OffsetNote(ownership: Samples.ownership(1), next: next)])
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
            try expect(try subject.ledger.accept(ledger: "another", note), false, "another id")
            try expect(try subject.ledger.takeOver([request]), [.forgotten(ledger: id)], "still")
            try expect(try subject.ledger.accept(ledger: id, note), true, "accepted")
            try expect(try subject.ledger.knows([Samples.partition]), true, "known once it is accepted")
            try expect(try subject.ledger.actions(on: nil).map(\.note), [note], "actions")
            try expect(try start(subject.ledger.takeOver([request]).first).starts, 1, "after")
        },
    ]

    static let knownRules: [ConformanceRule] = [
        ConformanceRule("The apps of its grants and its waiting submissions are known") { subject in
            try subject.own()
            try subject.write(Samples.fail(Samples.submission("s1", app: "a.other", offset: 1)))
            try expect(try subject.ledger.apps(), [], "apps before a grant")
            try subject.write(Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("1")))
            try expect(try subject.ledger.apps(), [Samples.app], "apps")
            try subject.write(Samples.wait(Samples.submission("s3", app: "a.third", offset: 3)))
            try expect(try subject.ledger.apps(), [Samples.app, "a.third"], "apps, one of which waits")
        },
        ConformanceRule("A redelivery comes with its outcome") { subject in
            try subject.own()
            let granted = try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1"), Samples.purchase("2")))[0]
            let copy = try subject.write(Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("1")))[0]
            let failed = try subject.write(Samples.fail(Samples.submission("s3", offset: 3)))[0]
            try subject.write(Samples.wait(Samples.submission("s4", offset: 4)))
            try subject.write(Samples.grant(Samples.submission("s9", offset: 9), Samples.purchase("9")))
            let known = try subject.ledger.knownOutcomes(of: [1, 2, 3, 4, 5].map(Samples.origin))
            try expect(known.map(\.origin.offset), [1, 2, 3, 4], "origins")
            try expect(known.map(\.submissionID), ["s1", "s2", "s3", "s4"], "submissions")
            try expect(known.map(\.kind), [.granted, .repeated, .failed, .waiting], "kinds")
            try expect(Set(known[0].publish.map(\.event)), Set(granted.events), "the granted one's events")
            try expect(known[1].publish.map(\.event), copy.events, "the repeat's")
            try expect(known[2].publish.map(\.event), failed.events, "the failed one's")
            try expect(known[3].publish, [], "the waiting one's")
        },
        ConformanceRule("Records of two claims at one offset are told apart") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            try subject.write(
                Samples.fail(Samples.submission("s1", user: "other", offset: 1)),
                Samples.fail(Samples.submission("s1", app: "com.example.other", offset: 1)))
            let known = try subject.ledger.knownOutcomes(of: [Samples.origin(1)])
            try expect(
                Set(known.map { "\($0.bundleID) \($0.submissionID) \($0.userID)" }),
                [
                    "com.example.game s1 player-1", "com.example.game s1 other", "com.example.other s1 player-1",
                ], "claims")
            try expect(known.map(\.publish.count), [1, 1, 1], "events")
        },
        ConformanceRule("Another partition's offsets are not this one's") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            let elsewhere = Origin(topic: other.topic, partition: other.partition, offset: 1)
            try expect(try subject.ledger.knownOutcomes(of: [elsewhere]), [], "outcomes")
        },
    ]

    static let readerRules: [ConformanceRule] = [
        ConformanceRule("Lists go from the newest on, page by page, and by filters") { subject in
            try subject.own()
            for number in 1...5 {
                let user: UserID = number == 3 ? "other" : "player-1"
                let submission = Samples.submission(
                    SubmissionID("s\(number)"), user: user, order: OrderID("o\(number)"), offset: Int64(number))
                try subject.write(Samples.grant(submission, Samples.purchase(TransactionID("\(number)"))))
                try subject.write(
                    Samples.fail(Samples.submission(SubmissionID("f\(number)"), user: user, offset: Int64(10 + number)))
                )
                try subject.write(
                    Samples.wait(Samples.submission(SubmissionID("w\(number)"), user: user, offset: Int64(20 + number)))
                )
            }
            for (state, prefix) in [(SubmissionState.granted, "s"), (.failed, "f"), (.retrying, "w")] {
                var query = SubmissionQuery(state: state, limit: 2)
                let first = try subject.ledger.submissions(query)
                try expect(first.map(\.claimant.submissionID.rawValue), ["\(prefix)5", "\(prefix)4"], state.rawValue)
                query.before = first.last?.sequence
                query.userID = "player-1"
                try expect(
                    try subject.ledger.submissions(query).map(\.claimant.submissionID.rawValue),
                    ["\(prefix)2", "\(prefix)1"], "the next page of one user")
                query.bundleID = "com.example.other"
                try expect(try subject.ledger.submissions(query).count, 0, "another app")
            }
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .held)).count, 0, "held")
            let causes = [("unreachable", 5), ("no_answer", 0)].map { cause, _ in
                SubmissionQuery(state: .retrying, cause: cause)
            }
            try expect(try causes.map { try subject.ledger.submissions($0).count }, [5, 0], "causes")
            func grants(_ query: GrantQuery) throws -> [String] {
                try subject.ledger.grants(query).map(\.grant.transactionID.rawValue)
            }
            try expect(try grants(GrantQuery(userID: "other")), ["3"], "by user")
            try expect(try grants(GrantQuery(orderID: "o2")), ["2"], "by order")
            try expect(try grants(GrantQuery(transactionID: "4")), ["4"], "by transaction")
            try expect(try grants(GrantQuery(submissionID: "s1")), ["1"], "by submission")
            try expect(try grants(GrantQuery(userID: "player-1", limit: 2)), ["5", "4"], "a page")
        },
        ConformanceRule("A restored purchase is found by its original") { subject in
            try subject.own()
            let durable = Samples.gems(.nonConsumable)
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("12", original: "11", product: durable)))
            try expect(
                try subject.ledger.grants(GrantQuery(transactionID: "11")).map(\.grant.transactionID), ["12"], "grants")
        },
        ConformanceRule("A submission's record has all that is owed for it") { subject in
            try subject.own()
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "s1")
            try expect(
                try subject.ledger.submission(key),
                SubmissionRecord(grants: [], answer: nil, waiting: [], owed: []), "an unknown one")
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1"), Samples.purchase("2"), owesCall: true))
            let record = try subject.ledger.submission(key)
            try expect(record.grants.map(\.grant.transactionID), ["1", "2"], "grants")
            try expect(record.owed.map(\.target), [.service(Samples.app), .service(Samples.app)], "owed")
            try expect(record.owed.map(\.dueAt), [Samples.noon, Samples.noon], "due")
        },
    ]
}
