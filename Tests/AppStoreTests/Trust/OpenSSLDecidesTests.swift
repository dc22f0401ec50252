import Contract
import Testing

@testable import AppStore
@testable import Cryptography

/// Shows that no evidence counts without OpenSSL's word, also where certificates and headers are known.
@Suite("Without OpenSSL's word nothing is authentic")
struct OpenSSLDecidesTests {
    @Test("signed transactions")
    func signedTransactions() throws {
        let roots = try SignedToken.chain.roots()
        let text = try SignedToken().text()
        let warm = SignedTransactionVerifier(roots: roots)
        #expect(warm.result(text).error == nil)
        Authenticity.$refusesEverything.withValue(true) {
            #expect(warm.result(text).error == .wrongSignature)
            #expect(SignedTransactionVerifier(roots: roots).result(text).error == .chain(.untrusted))
        }
        #expect(warm.result(text).error == nil)
    }

    @Test("receipts, by every kind of key")
    func receipts() throws {
        for signing in [try ReceiptSigning.rsa(), try .p256()] {
            let receipt = try signing.receipt()
            let warm = ReceiptVerifier(roots: signing.roots)
            #expect(warm.error(receipt) == nil)
            Authenticity.$refusesEverything.withValue(true) {
                #expect(warm.error(receipt) == .wrongSignature)
                #expect(ReceiptVerifier(roots: signing.roots).error(receipt) == .chain(.untrusted))
            }
            #expect(warm.error(receipt) == nil)
        }
    }
}
