import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("News of records and submissions")
final class SubmissionNewsTests {
    private var turn = Turn(seed: 1)
    private var news = SubmissionNews()

    private func found(_ kind: QuarantineReason.Kind, _ offsets: Range<Int64>) {
        for offset in offsets { news.quarantined(kind, at: Fixture.origin(offset), turn.now) }
        news.tell(&turn)
    }

    private func takeAlerts() -> [Alert] {
        defer { turn.actions.alerts = [] }
        return turn.actions.alerts
    }

    @Test("Quarantined records are told of at once for each reason, with the first, and counted from then on")
    func first() {
        found(.notJSON, 0..<3)
        found(.notJSON, 3..<9)
        found(.userID, 9..<10)
        #expect(
            takeAlerts() == [
                .quarantined(.notJSON, records: 3, example: Fixture.origin(0)),
                .quarantined(.userID, records: 1, example: Fixture.origin(9)),
            ])
        #expect(news.totals == [.notJSON: 9, .userID: 1])
    }

    @Test("Quarantined records are told of again after ten minutes, with all that came meanwhile, and not if none came")
    func again() {
        found(.notJSON, 0..<1)
        found(.notJSON, 1..<4)
        _ = takeAlerts()
        turn.wait(.seconds(599))
        news.tell(&turn)
        #expect(takeAlerts().isEmpty)
        turn.wait(.seconds(1))
        news.tell(&turn)
        #expect(takeAlerts() == [.quarantined(.notJSON, records: 3, example: Fixture.origin(1))])
        turn.wait(.seconds(600))
        news.tell(&turn)
        #expect(takeAlerts().isEmpty)
    }

    @Test("The moment is named at which something is told next, which is none where all is told")
    func nextMoment() {
        let start = turn.now
        found(.notJSON, 0..<1)
        #expect(news.nextMoment == nil)
        turn.wait(.seconds(60))
        found(.userID, 1..<2)
        found(.userID, 2..<3)
        #expect(news.nextMoment == start + .seconds(660))
        found(.notJSON, 3..<4)
        #expect(news.nextMoment == start + .seconds(600))
        turn.wait(.seconds(540))
        news.tell(&turn)
        #expect(news.nextMoment == start + .seconds(660))
    }

    @Test("Quarantined records are all told of at the end, once")
    func end() {
        found(.notJSON, 0..<1)
        found(.notJSON, 1..<4)
        _ = takeAlerts()
        for _ in 0..<2 { news.tell(&turn, all: true) }
        #expect(takeAlerts() == [.quarantined(.notJSON, records: 3, example: Fixture.origin(1))])
        #expect(news.nextMoment == nil)
    }

    @Test("A paid purchase that nobody answers is told of with its product and the first submission, and no other")
    func passedOver() throws {
        let left = try #require(
            PassedOver([
                PassedOver.Entry("1", "com.example.new", .productNotConfigured),
                PassedOver.Entry("2", "com.example.old", .transactionRevoked),
                PassedOver.Entry("3", "com.example.generic", .advancedCommerce),
            ]))
        for submission: SubmissionID in ["s1", "s2"] {
            news.passedOver(left, by: SubmissionKey(bundleID: "com.example", submissionID: submission), turn.now)
            news.tell(&turn)
        }
        func alerts(_ example: SubmissionID) -> Set<Alert> {
            [
                .passedOver(
                    "com.example", "com.example.new", .productNotConfigured, purchases: 1, example: example),
                .passedOver("com.example", "com.example.generic", .advancedCommerce, purchases: 1, example: example),
            ]
        }
        #expect(Set(takeAlerts()) == alerts("s1"))
        turn.wait(.seconds(600))
        news.tell(&turn)
        #expect(Set(takeAlerts()) == alerts("s2"))
        #expect(
            news.passedOverTotals == [.productNotConfigured: 2, .transactionRevoked: 2, .advancedCommerce: 2],
            "metrics have all reasons")
    }

    private func written(_ outcome: Outcome, _ submission: SubmissionID, of app: BundleID = "com.example") {
        let claimant = Claimant(
            submissionID: submission, userID: "u", bundleID: app, orderID: nil, traceparent: nil)
        news.written(outcome, by: claimant, turn.now)
        news.tell(&turn)
    }

    @Test("A slow clock and a missing app are told of at once with the first submission, and again after ten minutes")
    func mistakes() {
        written(.retrying(.signedAhead), "s1")
        written(.retrying(.signedAhead), "s2")
        written(.failed(reason: "unknown_app"), "s3", of: "com.example.new")
        #expect(
            takeAlerts() == [
                .signedAhead(submissions: 1, example: "s1"),
                .appMissing("com.example.new", submissions: 1, example: "s3"),
            ])
        turn.wait(.seconds(600))
        news.tell(&turn)
        #expect(takeAlerts() == [.signedAhead(submissions: 1, example: "s2")])
    }

    @Test("Apps that senders make up silence nothing for long: what did not come lately gives way")
    func madeUpApps() {
        for number in 0..<SubmissionNews.mostApps {
            written(.failed(reason: "unknown_app"), "s", of: BundleID("made.up.\(number)"))
        }
        #expect(takeAlerts().count == SubmissionNews.mostApps)
        written(.failed(reason: "unknown_app"), "s1", of: "com.example.new")
        written(.retrying(.signedAhead), "s2")
        #expect(takeAlerts() == [.signedAhead(submissions: 1, example: "s2")])
        turn.wait(.seconds(600))
        written(.failed(reason: "unknown_app"), "s3", of: "com.example.new")
        #expect(takeAlerts() == [.appMissing("com.example.new", submissions: 1, example: "s3")])
    }

    @Test("Outcomes that are no mistake of ours are not told of")
    func noMistakes() {
        let outcomes: [Outcome] = [
            .granted(created: 1), .redelivery, .repeated, .failed(reason: "signature_invalid"), .retrying(.noAnswer),
            .held(.productNotConfigured),
        ]
        for outcome in outcomes { written(outcome, "s") }
        #expect(takeAlerts().isEmpty)
    }

    @Test("Products beyond a thousand are not told of")
    func mostProducts() throws {
        for number in 0...SubmissionNews.mostProducts {
            let product = ProductID("p\(number)")
            let left = try #require(PassedOver([PassedOver.Entry("1", product, .productNotConfigured)]))
            news.passedOver(left, by: SubmissionKey(bundleID: "com.example", submissionID: "s"), turn.now)
        }
        news.tell(&turn)
        #expect(takeAlerts().count == SubmissionNews.mostProducts)
        #expect(news.nextMoment == nil)
    }
}
