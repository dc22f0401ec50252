import Contract
import Testing

@testable import AppStore

@Suite("Moment of a submission")
struct SubmissionMomentTests {
    private let made = Fixture.now
    private let now = Fixture.now.advanced(by: .seconds(86_400))

    private func moment(_ seconds: Int64) -> Timestamp {
        SubmissionMoment.moment(made.advanced(by: .seconds(seconds)), notBefore: made, now: now)
    }

    @Test("A time after the evidence was made stays as it is")
    func after() {
        #expect(moment(0) == made)
        #expect(moment(60) == made.advanced(by: .seconds(60)))
    }

    @Test("One that is earlier by no more than clocks differ counts as that moment, and any other as now")
    func before() {
        #expect(moment(-1) == made && moment(-300) == made)
        #expect(moment(-301) == now)
        #expect(SubmissionMoment.moment(Timestamp(milliseconds: 0), notBefore: made, now: now) == now)
    }

    @Test("It is never before the evidence, also where our clock is slow")
    func ourClock() {
        let early = made.advanced(by: .seconds(-200))
        #expect(SubmissionMoment.moment(Timestamp(milliseconds: 0), notBefore: made, now: early) == made)
    }

    @Test("What evidence says of a time to come counts for nothing while nobody has authenticated it")
    func ahead() {
        let slow = Fixture.submission(receivedAt: made.advanced(by: .seconds(-60)))
        let checked = slow.received(notBefore: now, isRow: false, now: made)
        #expect(checked.receivedAt == made)
        let later = made.advanced(by: .seconds(3600))
        #expect(checked.received(notBefore: now, isRow: true, now: later).receivedAt == made, "no wait moves it")
    }

    /// A period of 30 days that was bought now.
    private let period = Fixture.purchase(
        "1001", product: "vip", expiresAt: Fixture.now.advanced(by: .seconds(30 * 86_400)))

    @Test("Of a purchase that only Apple's reply names, the purchase itself bounds the moment")
    func claimed() {
        let slow = Fixture.now.advanced(by: .seconds(-86_400))
        let claiming = Fixture.submission(transactionID: "1001", receivedAt: slow)
        #expect(claiming.received(claiming: [period], firstCheckedAt: now).receivedAt == now)
        #expect(claiming.received(claiming: [period], firstCheckedAt: nil).receivedAt == period.purchasedAt)
        #expect(claiming.received(claiming: [], firstCheckedAt: now).receivedAt == slow)
        // It may be a renewal after the submission.
        #expect(
            Fixture.submission(receivedAt: slow).received(claiming: [period], firstCheckedAt: now).receivedAt == slow)
    }

    @Test("So a period that is over is not granted for a bare id whose record says 'before it was bought'")
    func lookedUp() throws {
        let end: Int64 = 30 * 86_400
        let answer = try ServerAPIScript.found([
            "productId": "\"vip\"", "type": "\"Auto-Renewable Subscription\"",
            "purchaseDate": SignedToken.moment(-end * 2),
            "expiresDate": SignedToken.moment(-end),
        ])
        func verdict(_ receivedAt: Int64) throws -> Verdict? {
            let submission = Fixture.submission(
                transactionID: ServerAPIScript.id, evidence: .transactionID(ServerAPIScript.id),
                receivedAt: Fixture.now.advanced(by: .seconds(receivedAt)))
            return try QuestionScript(ServerAPIScript.question(.transaction(ServerAPIScript.id), submission), [answer])
                .verdict
        }
        #expect(try verdict(-end * 3)?.reason == .subscriptionExpired)
        // Submitted in time, and answered late.
        #expect(try verdict(-end * 2 + 5)?.granted == [ServerAPIScript.id])
    }

    @Test(
        "A bare id with such a record loses no period to a wait: its first check counts, and later the purchase",
        arguments: [
            (false, Int64(-45), true), (false, 0, false), (true, -45, true), (true, 0, true),
        ])
    func waited(isRow: Bool, checkedOnDay day: Int64, isGranted: Bool) throws {
        let second: Int64 = 86_400
        let answer = try ServerAPIScript.found([
            "productId": "\"vip\"", "type": "\"Auto-Renewable Subscription\"",
            "purchaseDate": SignedToken.moment(-60 * second), "expiresDate": SignedToken.moment(-30 * second),
        ])
        var submission = Fixture.submission(
            transactionID: ServerAPIScript.id, evidence: .transactionID(ServerAPIScript.id),
            receivedAt: Fixture.now.advanced(by: Fixture.day * -90))
        let checker = LocalChecker(
            apps: [try QuestionScript.rules(hasKey: true)],
            verifiers: SignatureVerifiers(roots: try SignedToken.chain.roots()))
        let checkedAt = Fixture.now.advanced(by: .seconds(day * second))
        guard case .ask(let question) = checker.check(&submission, isRow: isRow, at: checkedAt) else {
            Issue.record("Apple is not asked")
            return
        }
        let verdict = try QuestionScript(question, [answer]).verdict
        #expect(verdict?.granted == (isGranted ? [ServerAPIScript.id] : []))
        #expect(verdict?.reason == (isGranted ? nil : .subscriptionExpired))
    }

    @Test("So it is for a claimed purchase that verifyReceipt attests, and for one of a history")
    func answered() throws {
        let slow = Fixture.now.advanced(by: .seconds(-86_400 * 90))
        let over = Fixture.now.advanced(by: .seconds(-86_400))
        let bought = Fixture.now.advanced(by: .seconds(-86_400 * 31))
        let body = Answer.authentic(inApp: [
            Answer.period("1001", line: "9", expires: over, ["purchase_date_ms": String(bought.milliseconds)])
        ])
        func verdict(_ claimed: TransactionID?, firstCheckedAt: Timestamp? = Fixture.now) throws -> Verdict? {
            let submission = Fixture.submission(transactionID: claimed, receivedAt: slow)
            let question = ReceiptQuestion(
                subject: QuestionSubject(
                    submission: submission, rules: try QuestionScript.rules(), firstCheckedAt: firstCheckedAt),
                base64: Array("AAAA".utf8)[...], fingerprint: ReceiptFingerprint())
            return try QuestionScript(question, [QuestionScript.reply(body)]).verdict
        }
        #expect(try verdict("1001")?.reason == .subscriptionExpired)
        #expect(try verdict(nil)?.granted == ["1001"])
        #expect(try verdict("1001", firstCheckedAt: nil)?.granted == ["1001"], "it waited")
    }
}
