import CommandParser
import Contract
import Ledger
import Testing

@testable import Commands

@Suite("Pages that go from state to state")
struct SubmissionPageTests {
    private let ledger = FixedLedger()

    private func page(
        _ filter: SubmissionQuery = SubmissionQuery(state: .held, limit: 3), state: SubmissionState? = nil,
        before: SubmissionPage.Place? = nil
    ) throws -> SubmissionPage {
        var page = SubmissionPage(filter, state: state, before: before)
        try page.fill(from: ledger)
        return page
    }

    private func row(_ state: SubmissionState, _ sequence: Int64) -> SubmissionRow {
        SubmissionRow(
            sequence: sequence, state: state, claimant: FixedLedger.claimant("s-1"), origin: FixedLedger.origin,
            transactionID: nil, productID: nil, attempts: 1)
    }

    @Test("A page goes on in the next state, and names the place of its last row")
    func goesOn() throws {
        ledger.list([row(.held, 9), row(.failed, 8), row(.failed, 7), row(.failed, 6), row(.granted, 9)])
        let first = try page()
        #expect(first.rows.map(\.sequence) == [9, 8, 7])
        #expect(first.next == SubmissionPage.Place(state: .failed, sequence: 7) && !first.isCut)
        let second = try page(before: first.next)
        #expect(second.queries.map(\.state) == [.failed, .repeated, .granted])
        #expect(second.queries.map(\.before) == [7, nil, nil])
        #expect(second.rows.map(\.sequence) == [6, 9] && second.next == nil)
    }

    @Test("A list of one state has no other")
    func one() throws { #expect(try page(state: .failed).queries.map(\.state) == [.failed]) }

    @Test("A page that those which wait or failed have filled asks for no others")
    func full() throws {
        ledger.list([row(.held, 9), row(.failed, 8), row(.failed, 7), row(.repeated, 6)])
        #expect(try page().rows.count == 3)
        #expect(ledger.questions.count == 3)
    }

    @Test("Many places without a row end a page before it is full, and it says where the next one goes on")
    func cut() throws {
        ledger.decide(1...2_500_000)
        ledger.list([row(.held, 9), row(.granted, 2_400_000), row(.granted, 400_000)])
        let first = try page()
        #expect(first.rows.map(\.state) == [.held] && first.isCut)
        #expect(first.next == SubmissionPage.Place(state: .repeated, sequence: 1_500_001))
        // The lists that an index has, and a look at each stretch of repeats.
        #expect(ledger.questions.count == 3 + 100)
        let second = try page(before: first.next)
        #expect(second.next == SubmissionPage.Place(state: .repeated, sequence: 500_001) && second.isCut)
        let third = try page(before: second.next)
        #expect(third.rows.map(\.sequence) == [2_400_000] && third.isCut)
        #expect(third.next == SubmissionPage.Place(state: .granted, sequence: 1_500_001))
    }

    @Test("An id finds its rows by indexes: all states are asked for at one moment")
    func byID() throws {
        ledger.decide(1...2_500_000)
        _ = try page(SubmissionQuery(state: .held, userID: "u-1", limit: 50))
        #expect(ledger.questions.count == SubmissionState.allCases.count)
    }

    @Test("Places are written and read in one form", arguments: ["failed:17", "held:-3"])
    func places(text: String) throws {
        #expect(try #require(ValueForm<SubmissionPage.Place>.place.read(text)).text == text)
        for wrong in ["17", "gone:17", "failed:", "failed:1:2", "failed:+1"] {
            #expect(ValueForm<SubmissionPage.Place>.place.read(wrong) == nil)
        }
    }
}
