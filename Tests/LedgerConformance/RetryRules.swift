import Contract
import Ledger
import LedgerModel

extension LedgerConformance {
    static let retryRules: [ConformanceRule] = [
        ConformanceRule("A record leaves the row that is there") { subject in
            try subject.own()
            let doubt = Doubt(replies: 4, elapsed: 1_000, runningSince: nil)
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0, attempts: 9, doubt: doubt))
            let lease = try subject.takeOne().lease
            let again = try subject.write(Samples.wait(submission, delay: 0, attempts: 1))[0]
            try expect(again.outcome, .retrying(.unreachable), "outcome")
            try expect(try subject.ledger.renew([LeaseRenewal(lease, takings: 0)]), [true], "the lease")
            subject.setClock(Samples.later(60_000))
            let due = try subject.takeOne()
            try expect(due.attempts, 9, "attempts")
            try expect(due.doubt, doubt, "doubt")
        },
        ConformanceRule("Other content under one id waits beside it") { subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("s1", offset: 1)))
            try subject.write(Samples.wait(Samples.submission("s1", offset: 2, receipt: "b3RoZXI=")))
            try subject.write(Samples.wait(Samples.submission("s1", user: "other", offset: 3)))
            let record = try subject.ledger.submission(SubmissionKey(bundleID: Samples.app, submissionID: "s1"))
            try expect(record.waiting.map(\.submission.origin.offset), [1, 2, 3], "rows")
        },
        ConformanceRule("A record of all that waits under one id leaves evidence where it is, which workers take") {
            subject in
            try subject.own()
            let submission = Samples.submission("s1", receipt: "b3RoZXI=")
            try subject.write(Samples.wait(submission, delay: 0))
            let record = try subject.ledger.submission(submission.claimant.submissionKey)
            try expect(record.waiting.map(\.submission), [submission.withoutEvidence], "what is shown")
            try expect(record.waiting.map(\.submission.evidence.byteCount), [0], "bytes of evidence")
            try expect(try subject.takeOne().submission, submission, "what a worker takes")
        },
        ConformanceRule("Rows are taken once they are due, by endpoint, in order, and up to a number and bytes") {
            subject in
            try subject.own()
            for (number, delay) in [(1, 300), (2, 100), (3, 200), (4, 5_000)] {
                let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
                try subject.write(Samples.wait(submission, delay: Int64(delay)))
            }
            try subject.write(Samples.wait(Samples.submission("api", offset: 9), delay: 0, endpoint: Samples.serverAPI))
            subject.setClock(Samples.later(1_000))
            func take(_ endpoint: Endpoint?, _ limit: Int, bytes: Int = .max, beforeDue: Bool = false) throws
                -> [String]
            {
                try subject.ledger.takeDue(
                    [DueRequest(endpoint: endpoint, limit: limit, beforeDue: beforeDue)], bytes: bytes
                ).map(\.submission.id.rawValue)
            }
            try expect(try take(Samples.endpoint, 9, bytes: 1), ["s2"], "the one that reaches the bytes")
            try expect(try take(Samples.endpoint, 1), ["s3"], "one")
            try expect(try take(Samples.endpoint, 9), ["s1"], "the last one that is due")
            try expect(try take(Samples.endpoint, 9), [], "none is due")
            try expect(try take(Samples.endpoint, 9, beforeDue: true), ["s4"], "before it is due, but no leased one")
            try expect(try take(nil, 9), [], "held")
            try expect(try take(Samples.serverAPI, 9), ["api"], "another endpoint")
        },
        ConformanceRule("Rows that Apple has signed are taken before all others, also once they were tried") {
            subject in
            try subject.own()
            for (number, delay) in [(1, 100), (2, 300), (3, 200), (4, 5_000)] {
                let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
                try subject.write(Samples.wait(submission, delay: Int64(delay), isSigned: number % 2 == 0))
            }
            func take(_ limit: Int, beforeDue: Bool = false) throws -> [DueRetry] {
                try subject.ledger.takeDue(
                    [DueRequest(endpoint: Samples.endpoint, limit: limit, beforeDue: beforeDue)], bytes: .max)
            }
            subject.setClock(Samples.later(1_000))
            let due = try take(2)
            try expect(due.map(\.submission.id), ["s2", "s1"], "the order of rows that are due")
            for row in due {
                try subject.write(Samples.wait(row.submission, delay: 9_000, lease: row.lease, attempts: 2))
            }
            try expect(
                try take(9, beforeDue: true).map(\.submission.id), ["s4", "s2", "s3", "s1"], "before they are due")
        },
        ConformanceRule("Held rows have no endpoint") { subject in
            try subject.own()
            let entry = RetryEntry(
                cause: .held(.credentialsMissing), detail: "No key.", delay: 0, history: AttemptHistory(), doubt: nil,
                isSigned: false, purchases: [])
            let result = try subject.write(Samples.decision(Samples.submission("s1"), .wait(entry)))[0]
            try expect(result.outcome, .held(.credentialsMissing), "outcome")
            try expect(
                try subject.measure().held,
                [.init(Samples.app, .credentialsMissing, details: ["No key.": 1], oldest: Samples.later(-500))],
                "measured")
            try expect(try subject.takeOne(nil).cause, .held(.credentialsMissing), "cause")
        },
        ConformanceRule("Held rows are measured with the details of most of them") { subject in
            try subject.own()
            let details = ["e", "d", "c", "b", "b", "a", "e"]
            for (number, detail) in details.enumerated() {
                let entry = RetryEntry(
                    cause: .held(.productNotConfigured), detail: detail, delay: 0, history: AttemptHistory(),
                    doubt: nil, isSigned: false, purchases: [])
                let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
                try subject.write(Samples.decision(submission, .wait(entry)))
            }
            let held = LedgerMeasure.Held(
                Samples.app, .productNotConfigured, rows: details.count, ["b", "e", "a", "c"],
                oldest: Samples.later(-500))
            try expect(try subject.measure().held, [held], "measured")
        },
        ConformanceRule("Held rows are taken in turn, whoever signed them, also before they are due") { subject in
            try subject.own()
            for number in 0..<4 {
                let entry = RetryEntry(
                    cause: .held(.productNotConfigured), detail: "Not listed.", delay: Int64(number + 1) * 1_000,
                    history: AttemptHistory(), doubt: nil,
                    isSigned: number != 1, purchases: [])
                let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
                try subject.write(Samples.decision(submission, .wait(entry)))
            }
            let request = DueRequest(endpoint: nil, limit: 2, beforeDue: true)
            var taken: [SubmissionID] = []
            for _ in 0..<2 {
                for row in try subject.ledger.takeDue([request], bytes: .max) {
                    taken.append(row.submission.id)
                    let entry = RetryEntry(
                        cause: row.cause, detail: "Not listed.", delay: 300_000, history: AttemptHistory(), doubt: nil,
                        isSigned: false, purchases: [])
                    try subject.write(Samples.decision(row.submission, .wait(entry), lease: row.lease))
                }
            }
            try expect(taken, ["s0", "s1", "s2", "s3"], "each once")
        },
        ConformanceRule("After a clock was ahead no row waits for longer than the longest delay") { subject in
            let day: Int64 = 24 * 3_600_000
            subject.setClock(Samples.later(day))
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("s1", offset: 1), delay: 0))
            try subject.write(Samples.wait(Samples.submission("s2", offset: 2), delay: 15_000))
            _ = try subject.takeOne()
            try subject.write(Samples.fail(Samples.submission("s3", offset: 3)))
            let key = OutboxKey.failed(Samples.key("s3"))
            _ = try subject.ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 5_000, stub: nil)])
            subject.setClock(Samples.noon)
            _ = try subject.measure()
            subject.setClock(Samples.later(longestDelayMilliseconds - 1))
            let due = DueRequest(endpoint: Samples.endpoint, limit: 9)
            try expect(try subject.ledger.takeDue([due], bytes: .max).count, 0, "rows before that")
            subject.setClock(Samples.later(longestDelayMilliseconds))
            try expect(
                Set(try subject.ledger.takeDue([due], bytes: .max).map(\.submission.id)), ["s1", "s2"], "rows then")
            try expect(try subject.drain().count, 1, "events then")
        },
        ConformanceRule("Workers count that gave a sign lately, whoever asks") { subject in
            let signs = [7, -8].map { WorkerSign(id: $0, name: "host/\($0)", version: "1.0") }
            try expect(try subject.ledger.measure(as: signs[0]).workers, 1, "the first alone")
            subject.setClock(Samples.later(WorkerSign.mostSilence - 1))
            try expect(try subject.other.measure(as: signs[1]).workers, 2, "both")
            subject.setClock(Samples.later(WorkerSign.mostSilence))
            try expect(try subject.other.measure(as: signs[1]).workers, 1, "the first is silent")
            try expect(try subject.ledger.measure(as: signs[0]).workers, 2, "it is back")
            subject.setClock(Samples.later(WorkerSign.keptFor * 2))
            try expect(try subject.ledger.measure(as: signs[0]).workers, 1, "the other is forgotten")
        },
        ConformanceRule("A sign of a clock that was ahead counts no worker") { subject in
            let signs = [7, -8].map { WorkerSign(id: $0, name: "host/\($0)", version: "1.0") }
            subject.setClock(Samples.later(WorkerSign.mostSilence + 1))
            _ = try subject.ledger.measure(as: signs[0])
            subject.setClock(Samples.noon)
            try expect(try subject.other.measure(as: signs[1]).workers, 1, "long ahead")
            try expect(try subject.other.workers().map(\.isLive), [true, false], "the list")
            subject.setClock(Samples.later(1))
            try expect(try subject.other.measure(as: signs[1]).workers, 2, "a little ahead, as clocks may be")
        },
        ConformanceRule("A worker that signs off counts no more, until it gives a sign again") { subject in
            let signs = [7, -8].map { WorkerSign(id: $0, name: "host/\($0)", version: "1.0") }
            for sign in signs { _ = try subject.ledger.measure(as: sign) }
            try subject.other.signOff(signs[0])
            try expect(try subject.ledger.measure(as: signs[1]).workers, 1, "the one that is left")
            try subject.other.signOff(signs[0])
            try expect(try subject.other.measure(as: signs[0]).workers, 2, "it is back")
        },
        ConformanceRule("A sample says when it was taken") { subject in
            subject.setClock(Samples.later(5))
            try expect(try subject.measure().takenAt, Samples.later(5), "its moment")
        },
        ConformanceRule("What waits is measured with the time of its oldest record, by endpoint, and by app and cause")
        {
            subject in
            try subject.own()
            for (number, endpoint) in [Samples.endpoint, Samples.serverAPI, Samples.endpoint, nil, nil].enumerated() {
                let submission = Samples.submission(
                    SubmissionID("s\(number)"), offset: Int64(number),
                    receivedAt: Samples.later(Int64(number) * 10 - 900))
                let cause: WaitCause = endpoint.map { .retrying(.unreachable, $0) } ?? .held(.credentialsMissing)
                let entry = RetryEntry(
                    cause: cause, detail: "Detail \(number).", delay: 0, history: AttemptHistory(), doubt: nil,
                    isSigned: false, purchases: [])
                try subject.write(Samples.decision(submission, .wait(entry)))
            }
            let measure = try subject.measure()
            try expect(
                measure.waiting.map(\.oldest), [Samples.later(-870), Samples.later(-890), Samples.later(-900)],
                "endpoints")
            try expect(measure.held.map(\.oldest), [Samples.later(-870)], "held")
        },
        ConformanceRule("What waits is measured, and given back") { subject in
            try subject.own()
            let submission = Samples.submission("s1", receipt: String(repeating: "A", count: 10_000))
            try subject.write(Samples.wait(submission, delay: 0))
            try subject.write(
                Samples.wait(Samples.submission("s2", app: "a.first", offset: 8), endpoint: Samples.serverAPI))
            let measure = try subject.measure()
            try expect(measure.retries.map(\.bundleID), ["a.first", Samples.app], "apps")
            try expect(measure.retries.last?.bytes, Int64(submission.retainedBytes), "bytes")
            try expect(measure.waiting.map(\.endpoint), [Samples.serverAPI, Samples.endpoint], "endpoints")
            let lease = try subject.takeOne().lease
            try subject.write(Samples.fail(submission, lease: lease))
            try expect(try subject.measure().retries.map(\.bundleID), ["a.first"], "apps that are left")
            try expect(try subject.measure().outboxRows, 1, "outbox")
            subject.setClock(Samples.later(700))
            try expect(try subject.measure().outboxAge, 700, "age of the outbox")
            let owed = try subject.ledger.takeOutbox([OutboxRequest(target: .topic(.failed), limit: 9)])
            try subject.ledger.report(owed.map { .postponed($0.lease, delay: 60_000) })
            try expect(try subject.measure().outboxAge, 700, "put off, and still owed")
            subject.setClock(Samples.later(700 + 60_000))
            try expect(try subject.measure().outboxAge, 700 + 60_000, "due again after a try")
        },
    ]
}
