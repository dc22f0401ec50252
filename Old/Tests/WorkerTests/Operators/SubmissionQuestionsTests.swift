import Foundation
import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("Questions about submissions")
struct SubmissionQuestionsTests {
    private let ledger = LedgerFixture.twoSubmissions()

    private func list(
        _ filter: SubmissionFilter = SubmissionFilter(), page: Page = Page(), format: AnswerFormat = .text(width: nil)
    ) async throws -> OperatorAnswer {
        try await SubmissionQuestions(ledger: ledger, format: format).list(filter, page: page)
    }

    private func text(_ answer: OperatorAnswer) throws -> String {
        guard case .found(let text) = answer else { throw NothingFound() }
        return text
    }

    private struct NothingFound: Error {}

    @Test("A list is an aligned table, the latest first")
    func table() async throws {
        #expect(
            try await list()
                == .found(
                    """
                    SUBMISSION  APP               OUTCOME  REASON                 USER  ORDER  TRIES  SETTLED
                    s-2         com.example.game  failed   owned_by_another_user  u-2   -      1      2023-11-14T22:13:22.000Z
                    s-1         com.example.game  granted  -                      u-1   o-1    1      2023-11-14T22:13:22.000Z

                    """))
    }

    @Test("A full page says how to go on, and going on ends")
    func pages() async throws {
        let first = try self.text(try await list(page: Page(limit: 1)))
        #expect(first.hasSuffix("\nMore: --before 2\n"))
        let second = try self.text(try await list(page: Page(before: 2, limit: 1)))
        #expect(second.contains("s-1"))
        #expect(try await list(page: Page(before: 1, limit: 1)) == .found("No submissions found.\n"))
    }

    @Test("Filters reach the ledger")
    func filters() async throws {
        let text = try self.text(try await list(SubmissionFilter(outcome: .granted)))
        #expect(text.contains("s-1") && !text.contains("s-2"))
        #expect(try await list(SubmissionFilter(userID: "nobody")) == .found("No submissions found.\n"))
    }

    @Test("A terminal's width is kept")
    func width() async throws {
        let text = try self.text(try await list(format: .text(width: 40)))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 })
        #expect(text.split(separator: "\n").allSatisfy { $0.hasSuffix("…") })
    }

    @Test("As JSON a list has its rows and where to go on, and an empty one is no error")
    func json() async throws {
        let text = try self.text(try await list(page: Page(limit: 1), format: .json))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let rows = try #require(object["submissions"] as? [[String: Any]])
        #expect(rows.count == 1)
        #expect(rows[0]["submissionId"] as? String == "s-2")
        #expect(rows[0]["reason"] as? String == "owned_by_another_user")
        #expect(rows[0]["offset"] as? Int == 42)
        #expect(object["next"] as? Int == 2)
        #expect(
            try self.text(try await list(SubmissionFilter(userID: "nobody"), format: .json)).contains(
                "\"submissions\" : ["))
    }

    @Test("A granted submission's story has its grant and its event, whole even where the terminal is narrow")
    func story() async throws {
        let answer = try await SubmissionQuestions(ledger: ledger, format: .text(width: 40)).show("s-1", of: nil)
        let event = ledger.eventRows[0].event.id.rawValue
        #expect(
            answer
                == .found(
                    """
                    Submission s-1
                      The purchase is the user's, and the event that says so is published.

                      app       com.example.game
                      user      u-1
                      order     o-1
                      received  2023-11-14T22:13:20.000Z
                      from      receipts.submitted, partition 3, offset 41
                      settled   2023-11-14T22:13:22.000Z, after 1 try
                      outcome   granted

                    Grant 0b7d9a52-0000-5000-8000-000000000001
                      product      com.example.game.gems100 (consumable)
                      quantity     1
                      gives        100 gems
                      transaction  1000001, production
                      original     1000001
                      granted      2023-11-14T22:13:20.000Z for submission s-1

                    Event \(event)
                      topic      granted
                      published  2023-11-14T22:13:20.000Z

                    """))
    }

    @Test("A failed submission's story has the reason, and no grant")
    func failedStory() async throws {
        let answer = try await SubmissionQuestions(ledger: ledger, format: .text(width: nil))
            .show("s-2", of: "com.example.game")
        let text = try self.text(answer)
        #expect(text.contains("  reason    owned_by_another_user\n  detail    The purchase belongs to another user.\n"))
        #expect(text.contains("  topic      failed\n"))
        #expect(!text.contains("Grant "))
    }

    @Test("A story as JSON has submission, grants and events")
    func storyJSON() async throws {
        let answer = try await SubmissionQuestions(ledger: ledger, format: .json).show("s-1", of: nil)
        let text = try self.text(answer)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]])
        let story = try #require(object["submissions"]?.first)
        #expect((story["grants"] as? [[String: Any]])?.first?["transactionId"] as? String == "1000001")
        #expect((story["events"] as? [[String: Any]])?.first?["state"] as? String == "published")
    }

    @Test("What is not there is said in one line")
    func notFound() async throws {
        let questions = SubmissionQuestions(ledger: ledger, format: .json)
        #expect(try await questions.show("s-9", of: nil) == .notFound(#"no submission "s-9" in the ledger"#))
        #expect(
            try await questions.show("s-1", of: "other")
                == .notFound(#"no submission "s-1" of app "other" in the ledger"#))
    }
}
