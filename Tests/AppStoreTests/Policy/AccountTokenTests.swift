import Contract
import Testing

@testable import AppStore

/// Every cell of the table of account tokens: attested × claimed × policy × kind of evidence.
@Suite("Account tokens")
struct AccountTokenTests {
    enum Token: String, CaseIterable, Sendable {
        case none
        case own = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        case other = "00000000-0000-4000-8000-000000000000"

        var text: String? { self == .none ? nil : rawValue }
    }

    enum Outcome: Sendable {
        case passes, mismatch, missing
        /// Refused as missing, unless the App Store Server API can be asked.
        case lookedUp
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let attested: Token
        let claimed: Token
        let policy: AccountTokenPolicy
        /// Whether the evidence names a token where there is one.
        let attestsTokens: Bool
        let outcome: Outcome

        var testDescription: String {
            "attested \(attested), claimed \(claimed), \(policy), evidence \(attestsTokens ? "says" : "cannot say")"
        }
    }

    private static func rows(
        _ attested: Token, _ claimed: Token, _ policy: AccountTokenPolicy, says: Outcome, cannotSay: Outcome
    ) -> [Row] {
        [(true, says), (false, cannotSay)].map {
            Row(attested: attested, claimed: claimed, policy: policy, attestsTokens: $0.0, outcome: $0.1)
        }
    }

    private static let table: [Row] = [
        rows(.none, .none, .match, says: .passes, cannotSay: .passes),
        rows(.none, .own, .match, says: .passes, cannotSay: .passes),
        rows(.none, .other, .match, says: .passes, cannotSay: .passes),
        rows(.own, .none, .match, says: .missing, cannotSay: .missing),
        rows(.own, .own, .match, says: .passes, cannotSay: .passes),
        rows(.own, .other, .match, says: .mismatch, cannotSay: .mismatch),
        rows(.other, .none, .match, says: .missing, cannotSay: .missing),
        rows(.other, .own, .match, says: .mismatch, cannotSay: .mismatch),
        rows(.other, .other, .match, says: .passes, cannotSay: .passes),

        rows(.none, .none, .required, says: .missing, cannotSay: .lookedUp),
        rows(.none, .own, .required, says: .missing, cannotSay: .lookedUp),
        rows(.none, .other, .required, says: .missing, cannotSay: .lookedUp),
        rows(.own, .none, .required, says: .missing, cannotSay: .missing),
        rows(.own, .own, .required, says: .passes, cannotSay: .passes),
        rows(.own, .other, .required, says: .mismatch, cannotSay: .mismatch),
        rows(.other, .none, .required, says: .missing, cannotSay: .missing),
        rows(.other, .own, .required, says: .mismatch, cannotSay: .mismatch),
        rows(.other, .other, .required, says: .passes, cannotSay: .passes),

        rows(.none, .none, .ignore, says: .passes, cannotSay: .passes),
        rows(.none, .own, .ignore, says: .passes, cannotSay: .passes),
        rows(.none, .other, .ignore, says: .passes, cannotSay: .passes),
        rows(.own, .none, .ignore, says: .passes, cannotSay: .passes),
        rows(.own, .own, .ignore, says: .passes, cannotSay: .passes),
        rows(.own, .other, .ignore, says: .passes, cannotSay: .passes),
        rows(.other, .none, .ignore, says: .passes, cannotSay: .passes),
        rows(.other, .own, .ignore, says: .passes, cannotSay: .passes),
        rows(.other, .other, .ignore, says: .passes, cannotSay: .passes),
    ].flatMap { $0 }

    @Test("bind by what Apple attests, for every claim, policy and kind of evidence", arguments: table)
    func cell(row: Row) {
        let check = PurchaseCheck(
            app: Fixture.app(accountToken: row.policy), submission: Fixture.submission(token: row.claimed.text),
            attestsTokens: row.attestsTokens)
        let finding = check.finding(on: Fixture.purchase(token: row.attested.text))
        switch (finding, row.outcome) {
        case (.passes, .passes): break
        case (.fails(let rejection), .mismatch): #expect(rejection.reason == .accountTokenMismatch)
        case (.fails(let rejection), .missing), (.tokenUnknown(let rejection), .lookedUp):
            #expect(rejection.reason == .accountTokenMissing)
        default: Issue.record("\(finding)")
        }
    }

    @Test("have no cell that the table leaves out")
    func complete() {
        let cells = Self.table.map { "\($0.attested) \($0.claimed) \($0.policy) \($0.attestsTokens)" }
        #expect(Set(cells).count == cells.count)
        #expect(cells.count == Token.allCases.count * Token.allCases.count * AccountTokenPolicy.allCases.count * 2)
    }

    @Test("are the same whatever their case", arguments: [AccountTokenPolicy.match, .required])
    func spelling(policy: AccountTokenPolicy) {
        let check = PurchaseCheck(
            app: Fixture.app(accountToken: policy), submission: Fixture.submission(token: "aaaa-BBBB"),
            attestsTokens: true)
        guard case .passes = check.finding(on: Fixture.purchase(token: "AAAA-bbbb")) else {
            Issue.record("did not pass")
            return
        }
    }

    @Test("that the evidence cannot say are looked up if one purchase needs it, even beside others that pass")
    func conclusion() {
        let policy = ClaimPolicy(
            app: Fixture.app(accountToken: .required), submission: Fixture.submission(token: Token.own.text))
        let purchases = [Fixture.purchase("1", token: Token.own.text), Fixture.purchase("2")]
        func conclusion(attestsTokens: Bool) -> ClaimPolicy.Conclusion {
            policy.conclusion(
                on: purchases, beside: UnreadablePurchases(), by: .verifyReceipt, attestsTokens: attestsTokens)
        }
        guard case .tokensUnknown(let otherwise) = conclusion(attestsTokens: false) else {
            Issue.record("not looked up")
            return
        }
        #expect(otherwise.granted == ["1"])
        guard case .verdict(let verdict) = conclusion(attestsTokens: true) else {
            Issue.record("looked up")
            return
        }
        #expect(verdict.granted == ["1"])
    }
}
