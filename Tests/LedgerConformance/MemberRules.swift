import Contract
import Cryptography
import Ledger
import LedgerModel
import MemberTesting

/// Rows keep every member. Samples are full and looked at by reflection, so a new member fails these rules until it has
/// a value there and survives.
extension LedgerConformance {
    static let memberRules: [ConformanceRule] = [
        ConformanceRule("Every member of a submission and its wait survives its row, and what an attempt changes") {
            subject in
            try subject.own()
            for (number, evidence) in FullSamples.evidence.enumerated() {
                let submission = FullSamples.submission(evidence)
                let (first, second) = (Samples.fullEntry(0), Samples.fullEntry(1))
                for sample in [submission, first, second] as [Any] {
                    try expect(Members.silent(in: sample), [], "the sample")
                }
                let written = try subject.write(Samples.decision(submission, .wait(first), attempts: 3))[0]
                try expect(written.outcome, .retrying(.rateLimited), "outcome")
                let due = first.delay * Int64(number + 1)
                subject.setClock(Samples.later(due))
                var rows = try subject.ledger.submission(submission.claimant.submissionKey).waiting
                try check(rows.dropFirst(number).first, submission, first, attempts: 3, dueAt: due)
                let taken = try subject.takeOne(first.cause.endpoint)
                try expect(Members.differing(taken.submission, submission), [], "the submission of a due row")
                let waits = Members.named(first)
                for (name, value) in Members.named(taken) {
                    guard let wanted = waits[name] else { continue }
                    try expect(Members.differing(value, wanted), [], "\(name) of a due row")
                }
                try expect(taken.attempts, 3, "attempts of a due row")
                try expect(Members.silent(in: taken), [], "a due row")
                try subject.write(Samples.decision(submission, .wait(second), lease: taken.lease, attempts: 4))
                rows = try subject.ledger.submission(submission.claimant.submissionKey).waiting
                try check(rows.dropFirst(number).first, submission, second, attempts: 4, dueAt: due + second.delay)
            }
        },
        ConformanceRule("Every member of a grant survives its row, added alone or beside others") { subject in
            try subject.own()
            for owesCall in [false, true] {
                let sample = FullSamples.submission(FullSamples.evidence[owesCall ? 1 : 0])
                let granted = try full(owesCall ? "2003" : "2002", lineItem: owesCall ? "78" : "77")
                let wanted = Grant(of: granted, to: sample, by: .serverAPI, attempts: 4, grantedAt: Samples.later(9))
                try expect(Members.silent(in: wanted), [], "the sample")
                let decision = Samples.decision(
                    sample, .grant([granted], by: .serverAPI), at: 9, owesCall: owesCall, attempts: 4)
                let result = try subject.write(decision)[0]
                try expect(result.outcome, .granted(created: 1), "outcome")
                try expect(result.events, owesCall ? [] : [GrantedEvent.event(of: wanted)], "events")
                let rows = try subject.ledger.grants(GrantQuery(transactionID: wanted.transactionID))
                let record = try subject.ledger.submission(sample.claimant.submissionKey)
                for row in [rows.first, record.grants.last] {
                    // No ledger keeps what holds.
                    try expect(
                        Members.differing(row?.grant as Any, wanted, except: ["holding"]), [], "the row of a grant")
                    try expect(Members.silent(in: row as Any, except: ["holding"]), [], "the row of a grant")
                }
            }
        },
        ConformanceRule("Every member of an answer survives its row") { subject in
            try subject.own()
            let granted = try full()
            let sample = FullSamples.submission(FullSamples.evidence[0])
            let key = sample.claimant.submissionKey
            let failure = Failure(
                of: sample.claimant, FullSamples.rejection, failedAt: Samples.later(9), attempts: 4,
                digest: ClaimDigest(of: sample), origin: sample.origin)
            let failed = try subject.write(
                Samples.decision(sample, .fail(FullSamples.rejection), at: 9, attempts: 4))[0]
            try expect(failed.events, [FailedEvent.event(of: failure)], "events")
            var wanted = Answer.failed(failure)
            try expect(Members.silent(in: wanted), [], "the sample")
            var found = try subject.ledger.submission(key).answer
            try expect(Members.differing(found as Any, wanted), [], "the row of a failure")

            let former = Submission(
                claimant: sample.claimant.taking("submissionID", of: FullSamples.claimants[1]), claim: .nothing,
                evidence: sample.evidence, origin: Samples.origin(1), receivedAt: sample.receivedAt)
            let later = Submission(
                claimant: sample.claimant.taking("submissionID", of: Samples.submission("s3").claimant),
                claim: sample.claim, evidence: sample.evidence,
                origin: sample.origin, receivedAt: sample.receivedAt)
            try subject.write(Samples.decision(former, .grant([granted], by: .serverAPI)))
            let repeated = try subject.write(Samples.decision(later, .grant([granted], by: .serverAPI), at: 9))[0]
            try expect(repeated.outcome, .repeated, "outcome")
            wanted = .repeated(
                Repeat(
                    claimant: later.claimant, grant: Samples.reference("2002", .sandbox), origin: later.origin,
                    answeredAt: Samples.later(9), passedOver: FullSamples.passedOver[0]))
            try expect(Members.silent(in: wanted), [], "the sample")
            found = try subject.ledger.submission(later.claimant.submissionKey).answer
            try expect(Members.differing(found as Any, wanted, except: ["holding"]), [], "the row of a repeat")
        },
        ConformanceRule("Every member of a row of the outbox and of a stub survives") { subject in
            try subject.own()
            let stub = QuarantineStub(
                origin: FullSamples.origins[0], reason: "not JSON", timestamp: Samples.later(-9),
                digest: SHA256.hash("x".utf8), size: 3 << 20)
            let entry = OutboxEntry(ownership: Samples.ownership(), key: stub.outboxKey, delay: 5, stub: stub)
            try expect(Members.silent(in: entry), [], "the sample")
            try expect(try subject.ledger.owe([entry]), [true], "owed")
            var row = OutboxRow(
                key: entry.key, step: .publish, target: .topic(.quarantined), dueAt: Samples.later(5),
                owedSince: Samples.later(5), isLeased: false, attempts: 0)
            try expect(try subject.ledger.outbox(limit: 9), [row], "a new row")
            subject.setClock(Samples.later(5))
            let request = OutboxRequest(target: .topic(.quarantined), limit: 9)
            for item in try subject.ledger.takeOutbox([request]) {
                try subject.ledger.report([.postponed(item.lease, delay: 0)])
            }
            guard let taken = try subject.ledger.takeOutbox([request]).first else {
                throw Violation(description: "a row that was postponed is not due")
            }
            let wanted = OutboxItem(
                lease: OutboxLease(key: entry.key, step: .publish, number: taken.lease.number), attempts: 1,
                work: .publish(QuarantinedEvent.event(of: stub)))
            try expect(Members.differing(taken, wanted), [], "the item")
            row = OutboxRow(
                key: entry.key, step: .publish, target: .topic(.quarantined),
                dueAt: Samples.later(5 + leaseMilliseconds), owedSince: Samples.later(5), isLeased: true, attempts: 1)
            // Calls alone have an answer: OutboxRules has theirs.
            try expect(Members.silent(in: row), ["answer"], "the sample")
            try expect(Members.differing(try subject.ledger.outbox(limit: 9), [row]), [], "a row that is taken")
        },
    ]

    private static func full(
        _ transaction: TransactionID = "2002", lineItem: String = "77"
    ) throws(Violation) -> GrantablePurchase {
        guard let granted = FullSamples.granted(transaction, lineItem: lineItem) else {
            throw Violation(description: "a sample overflows")
        }
        return granted
    }

    private static func check(
        _ row: RetryRow?, _ submission: Submission, _ entry: RetryEntry, attempts: Int, dueAt: Int64
    ) throws {
        let wanted = RetryRow(
            key: ClaimDigest(of: submission), submission: submission.withoutEvidence, entry: entry, attempts: attempts,
            dueAt: Samples.later(dueAt), isLeased: false)
        // A row has the moment instead of the delay, and only the decision has the purchases.
        try expect(
            Members.differing(row as Any, wanted, except: ["delay", "purchases"]), [], "the row of a submission")
    }
}

extension Samples {
    /// A wait in which each member says something, and another one. Signed is what never changes.
    static func fullEntry(_ number: Int) -> RetryEntry {
        RetryEntry(
            cause: .retrying(number == 0 ? .rateLimited : .noAnswer, Endpoint(.serverAPI, .sandbox, key: "k\(number)")),
            detail: "Detail \(number).", delay: Int64(1_000 + number),
            history: AttemptHistory([Attempt(at: later(Int64(number + 1)), cause: "c\(number)", detail: "d\(number)")]),
            doubt: Doubt(replies: number + 2, elapsed: Int64(number + 77), runningSince: later(Int64(number + 3))),
            isSigned: true,
            purchases: [
                NamedPurchase("97", of: "com.example.part", GrantKey(environment: .sandbox, name: "t:97"))
            ])
    }
}
