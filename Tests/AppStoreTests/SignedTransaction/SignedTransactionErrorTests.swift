import Contract
import Testing

@testable import AppStore

@Suite("What follows from a text that is no signed transaction")
struct SignedTransactionErrorTests {
    private static let later = Fixture.now.advanced(by: .seconds(1))
    static let rejected: [SignedTransactionError] =
        [
            .tooLarge, .notThreeParts, .notBase64URL, .headerUnreadable, .wrongAlgorithm, .headerRefused,
            .wrongCertificateCount, .wrongKey, .wrongSignature, .notATransaction, .noSigningDate, .outsideValidity,
            .localTesting,
        ] + ChainError.allCases.map { .chain($0) }

    @Test("it is rejected with a sentence", arguments: rejected)
    func rejection(error: SignedTransactionError) {
        #expect(error.verdict == .rejected(Rejection(.signatureInvalid, error.detail)))
        #expect(error.detail.hasSuffix("."))
    }

    @Test("what Apple signed and cannot be read waits for a person")
    func unreadable() {
        #expect(SignedTransactionError.payloadUnreadable.verdict.hold == .unknownAnswer)
    }

    @Test("what was signed in the future waits for that moment, and is never given up: the clock may be ours")
    func ahead() {
        let verdict = SignedTransactionError.signedAhead(until: Self.later).verdict
        #expect(verdict == .retry(.signedAhead, notBefore: Self.later))
    }

    @Test("every error has a sentence of its own")
    func details() {
        let all = Self.rejected + [.payloadUnreadable, .signedAhead(until: Self.later)]
        #expect(Set(all.map(\.detail)).count == all.count)
    }
}
