import Contract
import Cryptography
import Ledger

extension LedgerConformance {
    private static func entry(_ key: OutboxKey, generation: Int64 = 1, delay: Int64 = 0) -> OutboxEntry {
        OutboxEntry(ownership: Samples.ownership(generation), key: key, delay: delay, stub: nil)
    }

    static let outboxRules: [ConformanceRule] = [
        ConformanceRule("What the broker did not take is owed, once, and rendered from its row") { subject in
            try subject.own()
            let granted = try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0]
            let failed = try subject.write(Samples.fail(Samples.submission("s2", offset: 8)))[0]
            let copy = try subject.write(Samples.grant(Samples.submission("s3", offset: 9), Samples.purchase("1")))[0]
            var keys: [OutboxKey] = []
            for case .written(_, let publish, _) in [granted, failed, copy] { keys += publish.map(\.key) }
            try expect(try subject.ledger.owe(keys.map { entry($0) }), [true, true, true], "owed")
            try expect(try subject.ledger.owe(keys.map { entry($0) }), [true, true, true], "owed again")
            try expect(try subject.measure().outboxRows, 3, "rows")
            try expect(
                Set(try subject.drain()), Set(granted.events + failed.events + copy.events), "events")
            try expect(try subject.measure().outboxRows, 0, "rows that are left")
        },
        ConformanceRule("Nothing is owed under an old generation") { subject in
            try subject.own(1)
            try subject.own(2)
            let key = OutboxKey.granted(Samples.reference("1"), repeatOf: nil)
            try expect(
                try subject.ledger.owe([entry(key, generation: 1), entry(key, generation: 2)]), [false, true], "owed")
        },
        ConformanceRule("A row is one worker's until its lease ends") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let key = OutboxKey.granted(Samples.reference("1"), repeatOf: nil)
            _ = try subject.ledger.owe([entry(key, delay: 500)])
            let request = OutboxRequest(target: .topic(.granted), limit: 9)
            try expect(try subject.ledger.takeOutbox([request]).count, 0, "rows before it is due")
            subject.setClock(Samples.later(500))
            let first = try subject.ledger.takeOutbox([request])
            try expect(first.map(\.lease.key), [key], "rows")
            subject.setClock(Samples.later(60_499))
            try expect(try subject.other.takeOutbox([request]).count, 0, "rows within the lease")
            subject.setClock(Samples.later(60_500))
            let second = try subject.other.takeOutbox([request])
            try expect(second.count, 1, "rows after the lease")
            try expect(second[0].lease.number > first[0].lease.number, "a higher number")
            try subject.ledger.report([.published(first[0].lease), .postponed(first[0].lease, delay: 0)])
            try expect(try subject.ledger.outbox(limit: 9).map(\.isLeased), [true], "after an old lease's report")
            try subject.ledger.giveBack(retries: [], outbox: [second[0].lease])
            let third = try subject.ledger.takeOutbox([request])
            try expect(third.count, 1, "rows that were given back")
            try subject.ledger.report([.postponed(third[0].lease, delay: 1_000)])
            try expect(try subject.ledger.outbox(limit: 9).map(\.attempts), [1], "attempts")
            subject.setClock(Samples.later(61_500))
            let last = try subject.ledger.takeOutbox([request])
            try expect(last.map(\.attempts), [1], "attempts as taken")
            try subject.ledger.report([.published(last[0].lease)])
            try expect(try subject.ledger.outbox(limit: 9), [], "rows that are left")
        },
        ConformanceRule("A taken row is there until it is reported") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            _ = try subject.ledger.owe([entry(.granted(Samples.reference("1"), repeatOf: nil))])
            let taken = try subject.ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 9)])
            try expect(taken.count, 1, "taken")
            try expect(try subject.measure().outboxRows, 1, "rows")
        },
        ConformanceRule("Rows go by target, so many as are asked for, the longest due first") { subject in
            try subject.own()
            for number in 1...4 {
                let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
                try subject.write(Samples.grant(submission, Samples.purchase(TransactionID("\(number)"))))
                let key = OutboxKey.granted(Samples.reference(TransactionID("\(number)")), repeatOf: nil)
                _ = try subject.ledger.owe([entry(key, delay: Int64(100 - number))])
            }
            subject.setClock(Samples.later(1_000))
            let taken = try subject.ledger.takeOutbox([
                OutboxRequest(target: .topic(.failed), limit: 9), OutboxRequest(target: .topic(.granted), limit: 3),
            ])
            try expect(
                taken.map(\.lease.key),
                [4, 3, 2].map { .granted(Samples.reference(TransactionID("\($0)")), repeatOf: nil) },
                "taken")
        },
        ConformanceRule("A topic made anew owes the stub of its own record, too") { subject in
            try subject.own()
            for text in ["old", "new"] {
                let stub = QuarantineStub(
                    origin: Samples.origin(77), reason: text, timestamp: Samples.noon, digest: SHA256.hash(text.utf8),
                    size: 3)
                _ = try subject.ledger.owe([
                    OutboxEntry(ownership: Samples.ownership(), key: stub.outboxKey, delay: 0, stub: stub)
                ])
            }
            try expect(try subject.drain().count, 2, "events")
        },
        ConformanceRule("Rows that refer to nothing count as tried, and hide no other") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let keys = ["8", "9", "1"].map { OutboxKey.granted(Samples.reference($0), repeatOf: nil) }
            _ = try subject.ledger.owe(keys.map { entry($0) })
            let request = OutboxRequest(target: .topic(.granted), limit: 1)
            let taken = try subject.ledger.takeOutbox([request])
            try expect(taken.map(\.lease.key), [keys[2]], "taken")
            try subject.ledger.report(taken.map { .published($0.lease) })
            try expect(try subject.ledger.outbox(limit: 9).map(\.attempts), [1, 1], "attempts")
            try expect(try subject.ledger.outbox(limit: 9).map(\.isLeased), [false, false], "leases")
            for minute in 1...4 as ClosedRange<Int64> {
                subject.setClock(Samples.later(minute * 60_000))
                _ = try subject.ledger.takeOutbox([request])
            }
            try expect(try subject.measure().outboxAge > 0, "their age shows")
        },
        ConformanceRule("A call puts off so many rows that refer to nothing, and the next one goes on behind them") {
            subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let nothing = (0..<OutboxColumns.mostPutOff + 1).map { TransactionID("nothing-\($0)") }
            let keys = (nothing + ["1"]).map { OutboxKey.granted(Samples.reference($0), repeatOf: nil) }
            for start in stride(from: 0, to: keys.count, by: 1_000) {
                _ = try subject.ledger.owe(keys[start...].prefix(1_000).map { entry($0) })
            }
            let request = OutboxRequest(target: .topic(.granted), limit: 1)
            try expect(try subject.ledger.takeOutbox([request]).map(\.lease.key), [], "taken by the first call")
            let tried = try subject.ledger.outbox(limit: .max).count { $0.attempts > 0 }
            try expect(tried, OutboxColumns.mostPutOff, "rows that the first call put off")
            try expect(try subject.ledger.takeOutbox([request]).map(\.lease.key), keys.suffix(1), "by the next one")
        },
        ConformanceRule("Rows behind the last one that is wanted stay as they are") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let keys = ["8", "1", "9"].map { OutboxKey.granted(Samples.reference($0), repeatOf: nil) }
            _ = try subject.ledger.owe(keys.map { entry($0) })
            let taken = try subject.ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 1)])
            try expect(taken.map(\.lease.key), [keys[1]], "taken")
            let rows = try subject.ledger.owed(keys)
            try expect(rows.map(\.attempts), [1, 0, 0], "attempts")
            try expect(rows.map { $0.dueAt > Samples.noon }, [true, true, false], "due later")
        },
        ConformanceRule("A call that is put off stays a call") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true))
            let request = OutboxRequest(target: .service(Samples.app), limit: 9)
            let first = try subject.ledger.takeOutbox([request])
            try subject.ledger.report([.postponed(first[0].lease, delay: 1_000)])
            subject.setClock(Samples.later(1_000))
            let second = try subject.ledger.takeOutbox([request])
            try expect(second.map(\.lease.step), [.call], "step")
            try expect(second.map(\.attempts), [1], "attempts")
            try subject.ledger.report([.called(second[0].lease), .called(second[0].lease)])
            try expect(try subject.ledger.outbox(limit: 9).map(\.attempts), [0], "attempts of the next step")
            try expect(try subject.drain().count, 1, "events")
        },
        ConformanceRule("The latest answer to a call stays with it, and goes with the service's yes") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true))
            let request = OutboxRequest(target: .service(Samples.app), limit: 9)
            let answers = [ServiceAnswer(isRefusal: false, "HTTP 503"), ServiceAnswer(isRefusal: true, "HTTP 422")]
            func owed() throws -> [ServiceAnswer?] { try subject.ledger.outbox(limit: 9).map(\.answer) }
            try expect(try owed(), [nil], "before a call")
            for (number, answer) in answers.enumerated() {
                let taken = try subject.ledger.takeOutbox([request])
                try subject.ledger.report(taken.map { .postponed($0.lease, delay: 0, after: .answered(answer)) })
                try expect(try owed(), [answer], "after call \(number + 1)")
            }
            let row = try subject.ledger.submission(
                SubmissionKey(bundleID: Samples.app, submissionID: "s1")
            ).owed
            try expect(row.map(\.answer), [answers[1]], "with its submission")
            let unmade = try subject.ledger.takeOutbox([request])
            try subject.ledger.report(unmade.map { .postponed($0.lease, delay: 0, after: .notMade) })
            try expect(try subject.ledger.outbox(limit: 9).map(\.attempts), [2], "attempts, but for calls not made")
            try expect(try owed(), [answers[1]], "after a call that was not made")
            let last = try subject.ledger.takeOutbox([request])
            try subject.ledger.report(last.map { .called($0.lease) })
            try expect(try owed(), [nil], "after the yes")
            try expect(try subject.drain().count, 1, "events")
        },
        ConformanceRule("Calls are measured by app, apart from events") { subject in
            try subject.own()
            for number in 1...3 {
                subject.setClock(Samples.later(Int64(number) * 1_000))
                let app: BundleID = number == 3 ? "com.example.other" : Samples.app
                let submission = Samples.submission(SubmissionID("s\(number)"), app: app, offset: Int64(number))
                try subject.write(
                    Samples.grant(submission, Samples.purchase(TransactionID("\(number)")), owesCall: true))
            }
            let refused = try subject.ledger.takeOutbox([OutboxRequest(target: .service(Samples.app), limit: 1)])
            try subject.ledger.report(
                refused.map {
                    .postponed($0.lease, delay: 900_000, after: .answered(ServiceAnswer(isRefusal: true, "HTTP 410")))
                })
            let measure = try subject.measure()
            try expect(
                measure.calls,
                [
                    .init(bundleID: Samples.app, rows: 2, refused: 1, oldest: Samples.later(2_000)),
                    .init(bundleID: "com.example.other", rows: 1, refused: 0, oldest: Samples.later(3_000)),
                ], "calls")
            try expect(measure.outboxRows, 3, "rows")
            try expect(measure.outboxAge, 0, "age of events")
            let called = try subject.ledger.takeOutbox([OutboxRequest(target: .service(Samples.app), limit: 9)])
            try subject.ledger.report(called.map { .called($0.lease) })
            try expect(try subject.measure().calls.map(\.rows), [1, 1], "calls after a yes")
            subject.setClock(Samples.later(4_000))
            try expect(try subject.measure().outboxAge, 1_000, "age of the event that is due since")
        },
    ]
}
