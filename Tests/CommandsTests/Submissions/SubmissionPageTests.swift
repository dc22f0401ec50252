import CommandParser
import Contract
import Ledger
import Testing

@testable import Commands

@Suite("Pages that go from state to state")
struct SubmissionPageTests {
    private func page(
        _ filter: SubmissionQuery = SubmissionQuery(state: .held, limit: 3), state: SubmissionState? = nil,
        before: SubmissionPage.Place? = nil
    ) -> SubmissionPage {
        SubmissionPage(filter, state: state, before: before)
    }

    private func row(_ state: SubmissionState, _ sequence: Int64) -> SubmissionRow {
        SubmissionRow(
            sequence: sequence, state: state, claimant: FixedLedger.claimant("s-1"), origin: FixedLedger.origin,
            transactionID: nil, productID: nil, attempts: 1)
    }

    @Test("A page goes on in the next state, and names the place of its last row")
    func goesOn() {
        let first = page().filled([[row(.held, 9)], [], [row(.failed, 8), row(.failed, 7), row(.failed, 6)], [], []])
        #expect(first.rows.map(\.sequence) == [9, 8, 7])
        #expect(first.next == SubmissionPage.Place(state: .failed, sequence: 7))
        let second = page(before: first.next)
        #expect(second.queries.map(\.state) == [.failed, .repeated, .granted])
        #expect(second.queries.map(\.before) == [7, nil, nil])
        #expect(second.filled([[row(.failed, 6)], [], []]).next == nil)
    }

    @Test("A list of one state has no other")
    func one() { #expect(page(state: .failed).queries.map(\.state) == [.failed]) }

    @Test("Places are written and read in one form", arguments: ["failed:17", "held:-3"])
    func places(text: String) throws {
        #expect(try #require(ValueForm<SubmissionPage.Place>.place.read(text)).text == text)
        for wrong in ["17", "gone:17", "failed:", "failed:1:2", "failed:+1"] {
            #expect(ValueForm<SubmissionPage.Place>.place.read(wrong) == nil)
        }
    }
}
