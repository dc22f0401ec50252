import Foundation
import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("A person's retry")
struct OperatorChangesTests {
    private func retry(_ recall: Recall, format: AnswerFormat = .text(width: nil)) async throws -> OperatorAnswer {
        var ledger = LedgerFixture.twoSubmissions()
        ledger.recall = recall
        return try await OperatorChanges(ledger: ledger, format: format, now: { LedgerFixture.time })
            .retry("s-1", of: nil, OperatorNote(actor: "ann", reason: "Apple mended it."))
    }

    private static let name = #"ubmission "s-1" of app "com.example.game" "#

    @Test("says that it is due, and that a worker has it, as each is true")
    func due() async throws {
        #expect(
            try await retry(.due) == .found("S\(Self.name)is due now; a worker tries it within seconds.\n"))
        #expect(
            try await retry(.underWay("host-1")) == .found("S\(Self.name)is being tried already, by host-1.\n"))
    }

    @Test("does not promise what nobody does: without its evidence a submission is where it came from")
    func notKept() async throws {
        #expect(
            try await retry(.notKept)
                == .notFound(
                    "s\(Self.name)is held without its evidence, and nothing tries it by itself; its record is in "
                        + "receipts.submitted, partition 3, offset 41"))
    }

    @Test("says what is settled already")
    func settled() async throws {
        #expect(
            try await retry(.settled(.granted))
                == .notFound("s\(Self.name)is granted; there is nothing to try again"))
        #expect(
            try await retry(.settled(.failed))
                == .notFound("s\(Self.name)has failed, and a failure stands; there is nothing to try again"))
        #expect(try await retry(.notFound) == .notFound(#"no submission "s-1" in the ledger"#))
    }

    @Test("tells machines how many it changed")
    func json() async throws {
        for (recall, count) in [(Recall.due, 1), (.underWay("host-1"), 0)] {
            guard case .found(let text) = try await retry(recall, format: .json) else {
                Issue.record("\(recall) is an error")
                continue
            }
            let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(object["submissions"] as? Int == count)
            #expect(object["triedBy"] as? String == (count == 0 ? "host-1" : nil))
        }
    }
}
