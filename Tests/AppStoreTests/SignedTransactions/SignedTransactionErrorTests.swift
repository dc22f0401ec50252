import CertificateMaking
import Contract
import Testing

@testable import AppStore

@Suite("What follows from a text that is no signed transaction")
struct SignedTransactionErrorTests {
    private static let later = Fixture.now.advanced(by: .seconds(1))
    static let rejected: [SignedTransactionError] =
        [
            .tooLarge, .notThreeParts, .notBase64URL, .headerUnreadable, .wrongAlgorithm, .headerRefused,
            .wrongCertificateCount, .wrongKey, .wrongSignature, .notATransaction,
        ] + ChainError.allCases.filter { $0 != .unchecked }.map { .chain($0) }

    @Test("it is rejected with a sentence", arguments: rejected)
    func rejection(error: SignedTransactionError) {
        #expect(error.verdict == .rejected(Rejection(.signatureInvalid, error.detail)))
        #expect(error.detail.hasSuffix("."))
    }

    @Test("what Xcode made is refused for that, as its receipts are")
    func localTesting() {
        #expect(SignedTransactionError.localTesting.verdict.reason == .environmentNotAllowed)
    }

    @Test("what Apple signed and cannot be read waits for a person")
    func unreadable() {
        #expect(SignedTransactionError.payloadUnreadable.verdict.hold == .unknownAnswer)
        #expect(SignedTransactionError.noSigningDate.verdict.hold == .unknownAnswer)
        #expect(SignedTransactionError.outsideValidity.verdict.hold == .unknownAnswer)
        #expect(SignedTransactionError.objection(.wrongRole).verdict.hold == .unknownAnswer)
        #expect(SignedTransactionError.objection(.rootNotPinned).verdict.hold == .signatureUnchecked)
    }

    @Test("what was signed in the future waits for that moment, and is never given up: the clock may be ours")
    func ahead() {
        let verdict = SignedTransactionError.signedAhead(until: Self.later).verdict
        #expect(verdict == .retry(.signedAhead, notBefore: Self.later))
    }

    @Test("every error has a sentence of its own")
    func details() {
        let all =
            Self.rejected + [
                .localTesting, .payloadUnreadable, .noSigningDate, .signedAhead(until: Self.later), .unchecked,
                .objection(.wrongRole),
            ]
        #expect(Set(all.map(\.detail)).count == all.count)
    }
}

@Suite("Explained transactions")
struct SignedTransactionReportTests {
    private func report(_ token: SignedToken, now: Timestamp = Fixture.now) throws -> [EvidenceCheck] {
        try SignedTransactionVerifier(roots: token.chain.roots()).explain(EvidenceText(token.text()), now: now)
    }

    @Test("a good one passes every step")
    func good() throws {
        let report = try report(SignedToken())
        #expect(report.map(\.step) == SignedTransactionStep.allCases.map(\.rawValue))
        #expect(report.allSatisfy { $0.outcome == .passed && $0.detail.isEmpty })
    }

    @Test("the steps are the same when the header is known")
    func warm() throws {
        let token = try SignedToken()
        let verifier = SignedTransactionVerifier(roots: try token.chain.roots())
        _ = try verifier.verify(token.text(), now: Fixture.now)
        let report = try verifier.explain(EvidenceText(token.text()), now: Fixture.now)
        #expect(report.map(\.step) == SignedTransactionStep.allCases.map(\.rawValue))
        #expect(report.allSatisfy { $0.outcome == .passed && $0.detail.isEmpty })
    }

    @Test("what fails is the step that failed, and what comes after was not looked at")
    func failures() throws {
        var badHeader = try SignedToken()
        badHeader.header.set("alg", "\"none\"")
        var badPayload = try SignedToken()
        badPayload.rawPayload = Array("{".utf8)
        let cases: [(SignedToken, SignedTransactionStep)] = [
            (badHeader, .header), (try SignedToken(["signedDate": "\"today\""]), .payload),
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
            let failed = try #require(report.first { $0.outcome == .failed })
            #expect(failed.step == step.rawValue && failed.detail.hasSuffix("."))
            #expect(report.map(\.step) == SignedTransactionStep.allCases.map(\.rawValue))
            let after = report.drop { $0 != failed }.dropFirst()
            #expect(after.allSatisfy { $0.outcome == .skipped && $0.detail.isEmpty })
        }
    }

    @Test("no sentence holds anything of the token or the account")
    func secrets() throws {
        let token = try SignedToken(["appAccountToken": "\"7e3fb204-2bb7-4d2d-9b64-0c5b6b8bb4a1\""])
        let text = try report(token, now: Timestamp(milliseconds: 0)).map(\.detail).joined()
        #expect(!text.contains("7e3fb204"))
        #expect(!text.contains(token.headerPart.prefix(32)))
        #expect(!text.contains(token.payloadPart.prefix(32)))
    }
}
