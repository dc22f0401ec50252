import CertificateMaking
import Contract
import Testing

@testable import AppStore

@Suite("Explained transactions")
struct SignedTransactionReportTests {
    private func report(_ token: SignedToken, now: Timestamp = Fixture.now) throws -> SignedTransactionReport {
        try SignedTransactionVerifier(roots: token.chain.roots()).explain(EvidenceText(token.text()), now: now)
    }

    /// The step that failed.
    private func failed(_ report: SignedTransactionReport) -> VerificationStep? {
        report.checks.first { $0.outcome == .failed }?.step
    }

    @Test("a good one passes every step, each with a sentence")
    func good() throws {
        let report = try report(SignedToken())
        #expect(report.checks.map(\.step) == VerificationStep.allCases)
        #expect(report.isPassed)
        #expect(report.checks.allSatisfy { $0.detail.hasSuffix(".") })
        #expect(report.transaction?.transactionID == "2000000000000001")
        #expect(report.error == nil)
    }

    @Test("the steps are the same when the header is known")
    func warm() throws {
        let token = try SignedToken()
        let verifier = SignedTransactionVerifier(roots: try token.chain.roots())
        _ = try verifier.verify(token.text(), now: Fixture.now)
        let report = try verifier.explain(EvidenceText(token.text()), now: Fixture.now)
        #expect(report.checks.map(\.step) == VerificationStep.allCases)
        #expect(report.isPassed)
    }

    @Test("what fails is the step that failed, and what comes after was not looked at")
    func failures() throws {
        var badHeader = try SignedToken()
        badHeader.header.set("alg", "\"none\"")
        var badPayload = try SignedToken()
        badPayload.rawPayload = Array("{".utf8)
        let cases: [(SignedToken, VerificationStep)] = [
            (badHeader, .header),
            (try SignedToken(chain: ChainBuilder { $0.leaf.marker = nil }), .certificates),
            (
                try SignedToken(
                    chain: ChainBuilder { $0.leaf.key = .new(.p256) }), .signature
            ),
            (badPayload, .payload),
            (try SignedToken(["signedDate": "1000000000000"]), .validity),
            (try SignedToken(["signedDate": SignedToken.moment(86_400)]), .clock),
            (try SignedToken(["environment": "\"Xcode\""]), .environment),
            (try SignedToken(["type": "\"Rental\""]), .purchase),
        ]
        for (token, step) in cases {
            let report = try report(token)
            #expect(failed(report) == step)
            #expect(report.checks.map(\.step) == VerificationStep.allCases)
            let after = report.checks.drop { $0.step != step }.dropFirst()
            #expect(after.allSatisfy { $0.outcome == .skipped && $0.detail.isEmpty })
            #expect((report.transaction == nil) == (step != .purchase))
        }
    }

    @Test("no sentence holds anything of the token or the account")
    func secrets() throws {
        let token = try SignedToken(["appAccountToken": "\"7e3fb204-2bb7-4d2d-9b64-0c5b6b8bb4a1\""])
        let text = try report(token).checks.map(\.detail).joined()
        #expect(!text.contains("7e3fb204"))
        #expect(!text.contains(token.headerPart.prefix(32)))
        #expect(!text.contains(token.payloadPart.prefix(32)))
    }
}
