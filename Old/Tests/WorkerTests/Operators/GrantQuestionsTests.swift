import Foundation
import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("Questions about grants")
struct GrantQuestionsTests {
    private let ledger = LedgerFixture.twoSubmissions()

    @Test("A grant is shown with what it gives and to whom")
    func table() async throws {
        let answer = try await GrantQuestions(ledger: ledger, format: .text(width: nil))
            .show(GrantFilter(userID: "u-1"), page: Page())
        guard case .found(let text) = answer else { throw NothingFound() }
        #expect(text.hasPrefix("GRANT  "))
        #expect(text.contains("u-1   com.example.game.gems100  100 gems  1000001"))
        #expect(!text.contains("More"))
    }

    @Test("As JSON a grant has its key and all that Apple attested")
    func json() async throws {
        let answer = try await GrantQuestions(ledger: ledger, format: .json).show(GrantFilter(), page: Page(limit: 1))
        guard case .found(let text) = answer else { throw NothingFound() }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let grant = try #require((object["grants"] as? [[String: Any]])?.first)
        #expect(grant["key"] as? String == "production:1000001")
        #expect(grant["productType"] as? String == "consumable")
        #expect(object["next"] as? Int == 1)
    }

    @Test("What is not there is said in one line")
    func notFound() async throws {
        let answer = try await GrantQuestions(ledger: ledger, format: .text(width: nil))
            .show(GrantFilter(userID: "nobody"), page: Page())
        #expect(answer == .notFound("no grants found"))
    }

    private struct NothingFound: Error {}
}
