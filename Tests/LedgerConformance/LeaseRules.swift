import Contract
import Ledger

extension LedgerConformance {
    static let leaseRules: [ConformanceRule] = [
        ConformanceRule("A leased row's outcome goes to the outbox, and the row goes") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            let lease = try subject.takeOne().lease
            let decision = Samples.grant(submission, Samples.purchase("1"), lease: lease)
            let result = try subject.write(decision)[0]
            try expect(result, .written(.granted(created: 1), publish: []), "result")
            try expect(try subject.drain(), try subject.grantRows().map { GrantedEvent.event(of: $0) }, "events")
            try expect(try subject.write(decision)[0], .notOwned, "written again")
            let record = try subject.ledger.submission(submission.claimant.submissionKey)
            try expect(record.waiting, [], "rows")
        },
        ConformanceRule("A leased row that fails, or that another grant answers, is told by the outbox as well") {
            subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s0", offset: 1), Samples.purchase("1")))
            let repeating = Samples.submission("s1", offset: 2)
            let failing = Samples.submission("s2", offset: 3)
            try subject.write(Samples.wait(repeating, delay: 0))
            let first = try subject.takeOne().lease
            try subject.write(Samples.wait(failing, delay: 0))
            let second = try subject.takeOne().lease
            let results = try subject.write(
                Samples.grant(repeating, Samples.purchase("1"), lease: first), Samples.fail(failing, lease: second))
            try expect(
                results,
                [
                    .written(.repeated, publish: []), .written(.failed(reason: "receipt_not_authentic"), publish: []),
                ], "results")
            let events = try subject.drain()
            try expect(events.map(\.topic), [.granted, .failed], "topics")
            try expect(events[0].repeatOf, "s1", "mark")
        },
        ConformanceRule("A leased row that owes a call owes no event yet") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            let lease = try subject.takeOne().lease
            try subject.write(Samples.grant(submission, Samples.purchase("1"), lease: lease, owesCall: true))
            try expect(try subject.ledger.outbox(limit: 10).map(\.step), [.call], "steps")
        },
        ConformanceRule("A result under a lost lease is dropped") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            let lost = try subject.takeOne().lease
            subject.setClock(Samples.later(60_000))
            let lease = try subject.takeOne().lease
            try expect(lease.number > lost.number, "a higher number")
            for decision in [
                Samples.grant(submission, Samples.purchase("1"), lease: lost), Samples.fail(submission, lease: lost),
                Samples.wait(submission, lease: lost),
            ] {
                try expect(try subject.write(decision)[0], .notOwned, "result")
            }
            try expect(try subject.grantRows().count, 0, "grants")
            let renewals = [lost, lease].map { LeaseRenewal($0, takings: 0) }
            try expect(try subject.ledger.renew(renewals), [false, true], "renewals")
            let result = try subject.write(Samples.grant(submission, Samples.purchase("1"), lease: lease))[0]
            try expect(result.outcome, .granted(created: 1), "under the present one")
        },
        ConformanceRule("A row that goes on waiting is changed, and its lease ends") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            let lease = try subject.takeOne().lease
            let doubt = Doubt(replies: 1, elapsed: 0, runningSince: Samples.noon)
            try subject.write(
                Samples.wait(
                    submission, delay: 9_000, endpoint: Samples.serverAPI, lease: lease, attempts: 2, doubt: doubt))
            subject.setClock(Samples.later(8_999))
            try expect(
                try subject.ledger.takeDue([DueRequest(endpoint: Samples.serverAPI, limit: 9)], bytes: .max).count, 0,
                "rows before it is due")
            subject.setClock(Samples.later(9_000))
            let due = try subject.takeOne(Samples.serverAPI)
            try expect(due.attempts, 2, "attempts")
            try expect(due.doubt, doubt, "doubt")
            try expect(due.lease.number > lease.number, "a higher number")
        },
        ConformanceRule("A row that ended and came again has no lease of its past") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s0"), Samples.purchase("1")))
            let submission = Samples.submission("s1", offset: 2)
            var numbers: [Int64] = []
            for _ in 0..<3 {
                try subject.write(Samples.wait(submission, delay: 0))
                let lease = try subject.takeOne().lease
                numbers.append(lease.number)
                try subject.write(Samples.grant(submission, Samples.purchase("1"), lease: lease))
                for old in numbers.dropLast() {
                    let renewals = [LeaseRenewal(RetryLease(key: lease.key, number: old), takings: 0)]
                    try expect(try subject.ledger.renew(renewals), [false], "renewal of an old lease")
                }
            }
            try expect(Set(numbers).count, 3, "numbers")
        },
        ConformanceRule("A row that was taken twice without a result comes alone, until a renewal takes that back") {
            subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("s1", offset: 1), delay: 0))
            let request = DueRequest(endpoint: Samples.endpoint, limit: 9, beforeDue: true)
            func take(_ minute: Int64) throws -> [DueRetry] {
                subject.setClock(Samples.later(minute * 60_000))
                return try subject.ledger.takeDue([request], bytes: .max)
            }
            try expect(try take(0).map(\.takings), [1], "takings")
            try expect(try take(1).map(\.takings), [2], "takings")
            try subject.write(Samples.wait(Samples.submission("s2", offset: 2), delay: 0))
            let suspect = try take(2)
            try expect(suspect.map(\.submission.id), ["s1"], "rows")
            try expect(suspect.map(\.isSuspect), [true], "suspects")
            try expect(try take(2).map(\.submission.id), ["s2"], "rows besides")
            try expect(
                try subject.ledger.renew(suspect.map { LeaseRenewal($0.lease, takings: 2) }), [true], "renewal")
            try expect(try take(3).map(\.takings), [3], "takings after a renewal that keeps them")
            try expect(
                try subject.ledger.renew([LeaseRenewal(try take(4)[0].lease, takings: 0)]), [true], "renewal")
            try expect(try take(5).map(\.takings), [2, 1], "takings after one that takes them back")
        },
        ConformanceRule("A row that is given back or has a result was not taken in vain") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            try subject.ledger.giveBack(retries: [try subject.takeOne().lease], outbox: [])
            let due = try subject.takeOne()
            try expect(due.takings, 1, "takings")
            try subject.write(Samples.wait(submission, delay: 0, lease: due.lease))
            let renewal = LeaseRenewal(due.lease, takings: 1)
            try expect(try subject.ledger.renew([renewal]), [false], "renewal of a lease that has ended")
            try expect(try subject.takeOne().takings, 1, "takings")
        },
        ConformanceRule("A row that comes alone and is given back is due again, like any other") { subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("s1"), delay: 0))
            for minute in 0..<3 {
                subject.setClock(Samples.later(Int64(minute) * 60_000))
                let due = try subject.takeOne()
                guard minute == 2 else { continue }
                try subject.ledger.giveBack(retries: [due.lease], outbox: [])
            }
            try expect(try subject.takeOne().takings, 1, "takings")
        },
        ConformanceRule("A row that is held for ending workers is taken again once a person says so") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            for minute in 0..<3 {
                subject.setClock(Samples.later(Int64(minute) * 60_000))
                let due = try subject.takeOne()
                guard minute == 2 else { continue }
                let held = RetryEntry(
                    cause: .held(.endsWorkers), detail: "Ends workers.", delay: 0, history: AttemptHistory(),
                    doubt: nil, isSigned: false, purchases: [])
                try subject.write(Samples.decision(submission, .wait(held), lease: due.lease))
            }
            subject.setClock(Samples.later(900_000))
            let requests = [nil, Samples.endpoint].map { DueRequest(endpoint: $0, limit: 9, beforeDue: true) }
            try expect(try subject.ledger.takeDue(requests, bytes: .max), [], "rows that are taken")
            let note = OperatorNote(actor: "kim", reason: "Mended.", at: Samples.noon)
            try expect(try subject.ledger.retryNow(submission.claimant.submissionKey, note), 1, "rows")
            try expect(try subject.takeOne(nil).takings, 1, "takings")
        },
        ConformanceRule("A lease is renewed for a minute, and given back at once") { subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("s1"), delay: 0))
            let lease = try subject.takeOne().lease
            subject.setClock(Samples.later(50_000))
            try expect(try subject.ledger.renew([LeaseRenewal(lease, takings: 0)]), [true], "renewal")
            subject.setClock(Samples.later(109_999))
            let request = DueRequest(endpoint: Samples.endpoint, limit: 9, beforeDue: true)
            try expect(try subject.ledger.takeDue([request], bytes: .max).count, 0, "rows that are free")
            try subject.ledger.giveBack(retries: [lease], outbox: [])
            try expect(try subject.other.takeDue([request], bytes: .max).count, 1, "rows that are free now")
            try subject.ledger.giveBack(retries: [lease], outbox: [])
            try expect(try subject.other.takeDue([request], bytes: .max).count, 0, "given back under an old lease")
        },
        ConformanceRule("A person gives a submission up, and the attempt under way comes too late") { subject in
            try subject.own()
            let submission = Samples.submission("s1", transaction: "1")
            try subject.write(Samples.wait(submission, delay: 0))
            let lease = try subject.takeOne().lease
            let key = submission.claimant.submissionKey
            let note = OperatorNote(actor: "kim", reason: "The player was refunded.", at: Samples.noon)
            try expect(
                try subject.other.abandon(key, note), [.failed(reason: "abandoned_by_operator")], "outcomes")
            try expect(
                try subject.write(Samples.grant(submission, Samples.purchase("1"), lease: lease))[0], .notOwned,
                "the attempt's result")
            try expect(try subject.drain().map(\.topic), [.failed], "events")
            try expect(try subject.ledger.actions(on: key).map(\.kind), [.abandon], "actions")
            try expect(try subject.ledger.abandon(key, note), [], "once more")
        },
        ConformanceRule("A submission that a person gave up stays so, whatever other evidence comes under its id") {
            subject in
            try subject.own()
            let submission = Samples.submission("s1", offset: 1)
            try subject.write(Samples.wait(submission))
            let note = OperatorNote(actor: "kim", reason: "Given by hand.", at: Samples.noon)
            _ = try subject.other.abandon(submission.claimant.submissionKey, note)
            let event = try subject.drain().map(\.value)
            func fresh(_ offset: Int64, _ user: UserID = "player-1", id: SubmissionID = "s1") -> Submission {
                Samples.submission(id, user: user, offset: offset, receipt: "b3RoZXI=")
            }
            for (decision, what) in [
                (Samples.grant(fresh(2), Samples.purchase("1")), "a grant"),
                (Samples.grant(fresh(3), Samples.purchase("1"), Samples.purchase("2"), owesCall: true), "several"),
                (Samples.fail(fresh(4)), "a failure"), (Samples.wait(fresh(5)), "a wait"),
            ] {
                let result = try subject.write(decision)[0]
                try expect(result.outcome, .failed(reason: "abandoned_by_operator"), what)
                try expect(result.events.map(\.value), event, "the event of \(what)")
            }
            try expect(try subject.grantRows().count, 0, "grants")
            try expect(
                try subject.write(Samples.grant(fresh(6, "other"), Samples.purchase("3")))[0].outcome,
                .granted(created: 1), "another user's")
            try expect(
                try subject.write(Samples.grant(fresh(7, id: "s2"), Samples.purchase("1")))[0].outcome,
                .granted(created: 1), "a new id")
        },
        ConformanceRule("A submission that is given up fails at that moment, not at the command's start") { subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("s1", offset: 1)))
            try subject.write(Samples.wait(Samples.submission("s2", offset: 2)))
            subject.setClock(Samples.later(3_600_000))
            for (id, at) in [("s1", Samples.noon), ("s2", Samples.later(3_700_000))] as [(SubmissionID, Timestamp)] {
                let note = OperatorNote(actor: "kim", reason: "Old.", at: at)
                _ = try subject.ledger.abandon(Samples.key(id), note)
            }
            try expect(
                try subject.ledger.submissions(SubmissionQuery(state: .failed)).map(\.decidedAt),
                [Samples.later(3_700_000), Samples.later(3_600_000)], "moments")
        },
        ConformanceRule("A submission with a row that may not go is not given up, and all of it stays") { subject in
            try subject.own()
            let held = Samples.submission("s1", offset: 1)
            try subject.write(Samples.hold(held, "1"))
            let (key, note) = (Samples.key("s1"), OperatorNote(actor: "kim", reason: "Old.", at: Samples.noon))
            func give(up isHeld: Bool) throws -> [Outcome]? {
                let before = try subject.ledger.submission(key)
                let outcomes = try subject.other.abandon(key, note) { row in
                    row.entry.cause == .held(.accountTokenMissing) && !row.isLeased
                }
                if !isHeld {
                    try expect(try subject.ledger.submission(key), before, "its rows")
                    try expect(try subject.ledger.actions(on: key).count, 0, "actions")
                }
                return outcomes
            }
            let lease = try subject.takeOne(nil).lease
            try expect(try give(up: false), nil, "while a worker is at it")
            try subject.ledger.giveBack(retries: [lease], outbox: [])
            let other = Samples.submission("s1", offset: 2, receipt: "b3RoZXI=")
            try subject.write(Samples.wait(other, delay: 0))
            try expect(try give(up: false), nil, "beside a row that is retrying")
            try subject.write(Samples.fail(other, lease: try subject.takeOne().lease))
            try expect(try give(up: true), [.failed(reason: "receipt_not_authentic")], "held alone")
        },
        ConformanceRule("What has a grant is not failed by giving it up") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            let other = Samples.submission("s1", offset: 2, receipt: "b3RoZXI=")
            try subject.write(Samples.wait(other))
            let note = OperatorNote(actor: "kim", reason: "Old.", at: Samples.noon)
            try expect(try subject.ledger.abandon(other.claimant.submissionKey, note), [.repeated], "outcomes")
            try expect(try subject.drain().map(\.topic), [.granted], "events")
        },
        ConformanceRule("A person makes a submission due at once") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 900_000))
            let note = OperatorNote(actor: "kim", reason: "The key is there now.", at: Samples.noon)
            try expect(try subject.ledger.retryNow(submission.claimant.submissionKey, note), 1, "rows")
            try expect(try subject.takeOne().submission.id, "s1", "due")
            try expect(
                try subject.ledger.retryNow(SubmissionKey(bundleID: Samples.app, submissionID: "s9"), note), nil,
                "unknown")
            let key = submission.claimant.submissionKey
            try expect(try subject.other.retryNow(key, note), 0, "rows that no worker has")
            try expect(try subject.ledger.actions(on: key).count, 1, "actions")
        },
        ConformanceRule("A row is decided anew if its submission was granted by another record meanwhile") { subject in
            try subject.own()
            let waiting = Samples.submission("s1", offset: 1)
            try subject.write(Samples.wait(waiting, delay: 0))
            let lease = try subject.takeOne().lease
            let granted = try subject.write(Samples.grant(Samples.submission("s1", offset: 2), Samples.purchase("1")))[
                0]
            try subject.write(Samples.grant(waiting, Samples.purchase("1"), lease: lease))
            let events = try subject.drain()
            try expect(events.map(\.unmarked), granted.events, "events")
            try expect(try subject.grantRows().count, 1, "grants")
        },
    ]
}
