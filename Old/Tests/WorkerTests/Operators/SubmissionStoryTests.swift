import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("The story of a submission")
struct SubmissionStoryTests {
    private let ledger = LedgerFixture.twoSubmissions()

    private func story(_ outcome: RecordedOutcome, grants: Int = 0, publishedAt: [Timestamp?]) -> SubmissionStory {
        let told = ledger.submissionRows[0]
        let event = ledger.eventRows[0].event
        return SubmissionStory(
            row: SubmissionRow(
                sequence: 1, claimant: told.claimant, outcome: outcome, reason: nil, detail: nil, origin: told.origin,
                receivedAt: told.receivedAt, settledAt: told.settledAt, attempts: 2, eventIDs: []),
            grants: Array(repeating: ledger.grantRows[0], count: grants),
            events: publishedAt.map {
                EventRow(sequence: 1, event: event, publishedAt: $0)
            })
    }

    @Test("The first sentence says who has what, and whether everybody was told")
    func summary() {
        let time = LedgerFixture.time
        #expect(
            story(.granted, grants: 1, publishedAt: [nil]).summary
                == "The purchase is the user's, but Kafka has not taken the event that says so yet.")
        #expect(
            story(.granted, grants: 2, publishedAt: [time, time]).summary
                == "2 purchases are the user's, and their events are published.")
        #expect(
            story(.granted, grants: 2, publishedAt: [time, nil]).summary
                == "2 purchases are the user's, but Kafka has not taken all of their events yet.")
        #expect(
            story(.failed, publishedAt: [time]).summary
                == "Nothing was granted, and the event that says so is published.")
        #expect(
            story(.held, publishedAt: []).summary
                == "Neither granted nor refused: its record is where it came from, and nothing tries it by itself.")
    }

    @Test("An event that waits is said to wait")
    func waiting() {
        let text = story(.granted, grants: 1, publishedAt: [nil]).text()
        #expect(text.contains("\n  published  not published yet\n"))
        #expect(text.contains(", after 2 tries\n"))
    }

    @Test("A grant that its inventory service was not told of yet is said to be the user's, and why nobody knows")
    func delivery() {
        var story = story(.granted, grants: 1, publishedAt: [])
        let time = LedgerFixture.time
        func delivery(_ state: DeliveryRow.State) -> DeliveryRow {
            DeliveryRow(
                sequence: 1, bundleID: "com.example.game", grantID: ledger.grantRows[0].grantID,
                eventID: ledger.grantRows[0].eventID, openedAt: time, state: state, attempts: 1,
                history: AttemptHistory([Attempt(at: time, cause: "failed", detail: "HTTP 500.")]))
        }
        story.deliveries = [delivery(.open(dueAt: time.advanced(by: .seconds(9)), worker: nil))]
        #expect(
            story.summary == "The purchase is the user's, but the app's inventory service has not been told of it yet.")
        #expect(story.text().contains("called next at 2023-11-14T22:13:29.000Z, 1 call so far, the last at"))
        #expect(story.json.grants.first?.delivery?.state == "open")
        #expect(story.json.grants.first?.delivery?.failures.first?.detail == "HTTP 500.")
        story.deliveries = [delivery(.done(at: time))]
        #expect(story.text().contains("done at 2023-11-14T22:13:20.000Z, after 1 call\n"))
    }

    @Test("One that waits or failed names the transaction that it is about")
    func transaction() {
        let told = ledger.submissionRows[1]
        let story = SubmissionStory(
            row: SubmissionRow(
                sequence: 1, claimant: told.claimant, outcome: .failed, reason: told.reason, detail: nil,
                origin: told.origin, receivedAt: told.receivedAt, settledAt: told.settledAt, attempts: 1,
                transactionID: "1000001", eventIDs: []),
            grants: [], events: [])
        #expect(story.text().contains("\n  transaction  1000001\n"))
        #expect(story.json.submission.transactionId == "1000001")
    }

    @Test("No text of a client steers the terminal")
    func control() {
        let row = ledger.submissionRows[0]
        let hostile = Claimant(submissionID: "s\u{1B}[2J", userID: "u\n\u{202E}", bundleID: "com.example.game")
        let text = SubmissionStory(
            row: SubmissionRow(
                sequence: 1, claimant: hostile, outcome: .held, reason: nil, detail: "a\nb", origin: row.origin,
                receivedAt: row.receivedAt, settledAt: row.settledAt, attempts: 0, eventIDs: []),
            grants: [], events: []
        )
        .text()
        #expect(text.hasPrefix("Submission s\u{FFFD}[2J\n"))
        #expect(text.contains("  user      u\u{FFFD}\u{FFFD}\n"))
        #expect(text.contains("  detail    a\u{FFFD}b\n"))
    }
}
