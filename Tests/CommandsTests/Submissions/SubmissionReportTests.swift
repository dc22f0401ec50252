import Contract
import Ledger
import Testing

@testable import Commands

@Suite("Reports of submissions")
struct SubmissionReportTests {
    private func report(
        grants: [Grant] = [], answer: Answer? = nil, waiting: [RetryRow] = [], owed: [OutboxRow] = [],
        id: SubmissionID = "s-1", _ checkpoints: Checkpoints = Checkpoints([])
    ) throws -> SubmissionReport {
        try #require(
            SubmissionReport.all(
                SubmissionKey(bundleID: "com.example.game", submissionID: id),
                FixedLedger.record(grants: grants, answer: answer, waiting: waiting, owed: owed), actions: [],
                checkpoints
            ).first)
    }

    @Test("The state follows from the rows")
    func state() throws {
        let failed = Answer.failed(FixedLedger.failure)
        #expect(try report(grants: [FixedLedger.grant()], answer: failed).state == .granted)
        let repeated = Answer.repeated(
            Repeat(
                claimant: FixedLedger.claimant("s-2"), grant: FixedLedger.grant().reference, origin: FixedLedger.origin,
                answeredAt: FixedLedger.time, passedOver: nil))
        #expect(try report(answer: repeated).state == .repeated)
        #expect(try report(answer: failed).state == .failed)
        #expect(try report(answer: failed, waiting: [FixedLedger.waiting]).state == .retrying)
    }

    @Test("JSON says whether an outcome's event may be on its way, and nothing of the kind of what waits")
    func unpassed() throws {
        func member(_ next: Int64, _ answer: Answer?, _ grants: [Grant], _ waiting: [RetryRow] = []) throws -> String? {
            let row = PartitionRow(partition: FixedLedger.origin.topicPartition, next: next, owner: nil, starts: 0)
            let report = try report(grants: grants, answer: answer, waiting: waiting, Checkpoints([row]))
            return report.json().text.firstMatch(of: /"isUnpassed" : (\w+)/).map { String($0.1) }
        }
        let failed = Answer.failed(FixedLedger.failure)
        let repeated = Answer.repeated(
            Repeat(
                claimant: FixedLedger.claimant("s-2"), grant: FixedLedger.grant().reference, origin: FixedLedger.origin,
                answeredAt: FixedLedger.time, passedOver: nil))
        for (answer, grants) in [(nil, [FixedLedger.grant()]), (repeated, []), (failed, [])] as [(Answer?, [Grant])] {
            #expect(try member(173, answer, grants) == "true")
            #expect(try member(174, answer, grants) == "false")
        }
        #expect(try member(173, failed, [], [FixedLedger.waiting]) == nil)
    }

    @Test("A repeat is on its way as long as its own decision is young")
    func neverPassed() throws {
        let repeated = Answer.repeated(
            Repeat(
                claimant: FixedLedger.claimant("s-2"), grant: FixedLedger.grant().reference, origin: FixedLedger.origin,
                answeredAt: FixedLedger.time, passedOver: nil))
        let row = PartitionRow(partition: FixedLedger.origin.topicPartition, next: 0, owner: nil, starts: 0)
        let report = try report(answer: repeated, Checkpoints([row]))
        func isPromised(after age: Duration) -> Bool {
            report.words(now: FixedLedger.time.advanced(by: age)).sentences.contains {
                $0.contains(SubmissionWords.whileItWaits)
            }
        }
        #expect(isPromised(after: .seconds(3_599)) && !isPromised(after: .seconds(3_600)))
    }

    @Test("A claim that waits is promised only where Apple has signed it")
    func signed() throws {
        func forPlayer(isSigned: Bool) throws -> String? {
            let waiting = FixedLedger.waiting
            var entry = waiting.entry
            entry.isSigned = isSigned
            let row = RetryRow(
                key: waiting.key, submission: waiting.submission, entry: entry, attempts: 1, dueAt: waiting.dueAt,
                isLeased: false)
            return try report(waiting: [row]).words(now: FixedLedger.time).sentences.last
        }
        #expect(try forPlayer(isSigned: true)?.contains(SubmissionWords.whileItWaits) == true)
        #expect(try forPlayer(isSigned: false)?.contains(SubmissionWords.whileInDoubt) == true)
    }

    @Test("A repeat for an order says how to see whether that is paid")
    func repeatOrder() throws {
        let repeated = Answer.repeated(
            Repeat(
                claimant: FixedLedger.claimant("s-1"), grant: FixedLedger.grant().reference,
                origin: FixedLedger.origin, answeredAt: FixedLedger.time, passedOver: nil))
        let sentence = "Order o-1 is paid by a grant of its own alone: grantor find o-1 shows whether one is there."
        let words = try report(answer: repeated).words(now: FixedLedger.time)
        #expect(words.sentences.contains(sentence))
        #expect(!words.isImported, "a row without grants says nothing of another system")
    }

    @Test("A submission without a row is none")
    func unknown() {
        let key = SubmissionKey(bundleID: "a", submissionID: "s")
        #expect(SubmissionReport.all(key, FixedLedger.record(), actions: [], Checkpoints([])).isEmpty)
    }

    @Test("Two users with one id have a submission each")
    func twoUsers() {
        let waiting = FixedLedger.waiting
        let other = Submission(
            claimant: FixedLedger.claimant("retrying", user: "u-2"), claim: .nothing,
            evidence: waiting.submission.evidence,
            origin: FixedLedger.origin, receivedAt: FixedLedger.time)
        let row = RetryRow(
            key: ClaimDigest(of: other), submission: other, entry: waiting.entry, attempts: 1, dueAt: waiting.dueAt,
            isLeased: false)
        let record = FixedLedger.record(
            grants: [FixedLedger.grant()], waiting: [row], owed: [FixedLedger.owed(.publish)])
        let key = SubmissionKey(bundleID: "com.example.game", submissionID: "retrying")
        let reports = SubmissionReport.all(key, record, actions: [], Checkpoints([]))
        #expect(reports.map(\.user) == ["u-1", "u-2"])
        #expect(reports.map(\.state) == [.granted, .retrying])
        #expect(reports.map(\.record.owed.count) == [1, 0])
    }

    @Test("The event that says that it waits is owed to its user")
    func pending() throws {
        let waiting = FixedLedger.waiting
        let owed = OutboxRow(
            key: .pending(waiting.key), step: .publish, target: .topic(.pending), dueAt: FixedLedger.time,
            owedSince: FixedLedger.time, isLeased: false, attempts: 0)
        #expect(try report(waiting: [waiting], owed: [owed]).record.owed == [owed])
        #expect(try report(answer: .failed(FixedLedger.failure), owed: [owed]).record.owed.isEmpty)
    }

    @Test("A grant that waits for its service says so, with the latest answer")
    func service() throws {
        func row(_ answer: ServiceAnswer) -> OutboxRow {
            let owed = FixedLedger.owed(.call)
            return OutboxRow(
                key: owed.key, step: .call, target: owed.target, dueAt: owed.dueAt.advanced(by: .seconds(90)),
                owedSince: owed.owedSince, isLeased: false, attempts: 4, answer: answer)
        }
        let failed = try report(
            grants: [FixedLedger.grant()], owed: [row(ServiceAnswer(isRefusal: false, "no whole answer in time"))])
        #expect(
            failed.words(now: FixedLedger.time).sentences == [
                "The purchase is the user's.",
                "The app's inventory service has not said yes (no whole answer in time). To do: its team mends the service, "
                    + "or the way to it; grantor check calls it. It is called again in 90 s, at 2023-11-14T22:14:50.000Z.",
                "Tell the player: \"\(SubmissionWords.whileItWaits)\"",
            ])
        let refused = try report(grants: [FixedLedger.grant()], owed: [row(ServiceAnswer(isRefusal: true, "HTTP 422"))])
        #expect(
            refused.words(now: FixedLedger.time).sentences[1].hasPrefix(
                "The app's inventory service refuses it (HTTP 422): mostly it does not know the product or player. To do: add "
                    + "the product or player there. It is called again "))
        #expect(refused.text(now: FixedLedger.time).contains("after 4 attempts; refused, HTTP 422\n"))
        #expect(refused.json().text.contains("\"answer\" : \"HTTP 422\""))
        #expect(refused.json().text.contains("\"isRefused\" : true"))
    }

    @Test("Grant, failure and debts are told with the ids that others know them by")
    func text() throws {
        let grant = FixedLedger.grant()
        let text = try report(
            grants: [grant], answer: .failed(FixedLedger.failure), owed: [FixedLedger.owed(.publish)]
        ).text(now: FixedLedger.time)
        #expect(text.contains("\nGrant \(grant.key.grantID)\n"))
        #expect(text.contains("  gives        200 gems\n"))
        #expect(text.contains("  event        \(GrantedEvent.id(of: grant.key.grantID))\n"))
        #expect(text.contains("  reason       unknown_product\n"))
        #expect(text.contains("  granted event  topic granted, tried soon (due since 0 s), after 4 attempts\n"))
    }

    @Test("Purchases that were passed over are named with the reason, beside grants and beside repeats")
    func passedOver() throws {
        let entries = (1...10).map { PassedOver.Entry(TransactionID("\($0)"), "com.example.old", .subscriptionExpired) }
        let passedOver = PassedOver(entries + [PassedOver.Entry("99", "com.example.new", .productNotConfigured)])
        let repeated = Answer.repeated(
            Repeat(
                claimant: FixedLedger.claimant("s-1"), grant: FixedLedger.grant().reference,
                origin: FixedLedger.origin, answeredAt: FixedLedger.time, passedOver: passedOver))
        for report in [
            try report(grants: [FixedLedger.grant(passingOver: passedOver)]), try report(answer: repeated),
        ] {
            let text = report.text(now: FixedLedger.time)
            #expect(text.contains("\nPassed over\n  product_not_configured  com.example.new, transaction 99\n"))
            #expect(text.contains("  others                  3\n"))
            let json = report.json().text
            #expect(json.contains("\"product_not_configured\" : 1") && json.contains("\"subscription_expired\" : 10"))
            #expect(json.contains("\"transactionId\" : \"99\""))
        }
        #expect(!(try report(grants: [FixedLedger.grant()]).text(now: FixedLedger.time).contains("Passed over")))
    }

    @Test("No text of a client steers the terminal")
    func control() throws {
        let report = try report(waiting: [FixedLedger.waiting], id: "s\u{1B}[2J\n")
        #expect(report.text(now: FixedLedger.time).hasPrefix("Submission s\u{FFFD}[2J\u{FFFD}\n"))
    }
}
