import Contract
import Testing

@testable import AppStore

@Suite("Ids that a number of JSON rounded")
struct RoundedIDTests {
    @Test(
        "JavaScript writes the shortest digits, and others all of the double's",
        arguments: [
            ("2000000123456789123", "2000000123456789200", true), ("2000000123456789123", "2000000123456789248", true),
            ("20000001234567891", "20000001234567892", true), ("20000001234567891", "20000001234567891", false),
            ("20000001234567891", "20000001234567999", false), ("2000000123456789", "2000000123456788", false),
            ("9007199254740993", "9007199254740992", true), ("12", "x", false),
        ] as [(TransactionID, TransactionID, Bool)])
    func rounded(exact: TransactionID, claimed: TransactionID, isRounded: Bool) {
        #expect(exact.isRounded(to: claimed) == isRounded)
    }

    @Test("The hint names the id that was meant, and there is none without a claimed id")
    func hint() {
        let attested: [TransactionID] = ["7", "20000001234567891"]
        #expect(
            Claim(
                transactionID: "20000001234567892", productID: nil, appAccountToken: nil, environment: nil,
                submittedAt: nil
            ).hintOfRounding(among: attested)
                == " The claimed id looks like 20000001234567891 rounded by a JSON number: send ids as strings.")
        #expect(
            Claim(transactionID: "8", productID: nil, appAccountToken: nil, environment: nil, submittedAt: nil)
                .hintOfRounding(among: attested).isEmpty)
        #expect(Claim.nothing.hintOfRounding(among: attested).isEmpty)
    }

    @Test("It stands in the detail of a doubt about a receipt, and decides nothing")
    func doubt() {
        let submission = Fixture.submission(transactionID: "20000001234567892")
        let verdict = ClaimPolicy(app: Fixture.app(), submission: submission)
            .verdict(on: [Fixture.purchase("20000001234567891")], by: .verifyReceipt)
        guard case .doubt(.notFoundYet, .rejected(let rejection)) = verdict else { return #expect(Bool(false)) }
        #expect(rejection.reason == .transactionNotFound && rejection.transactionID == "20000001234567892")
        #expect(rejection.detail.hasPrefix("Apple attests no such transaction. The claimed id looks like 2000"))
    }
}
