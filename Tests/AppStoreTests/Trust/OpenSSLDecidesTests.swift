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

    @Test("and what cannot be checked is held, never called forged, and forgotten", arguments: [true, false])
    func unchecked(isRSA: Bool) throws {
        let roots = try SignedToken.chain.roots()
        let text = try SignedToken().text()
        let transactions = SignedTransactionVerifier(roots: roots)
        let signing = isRSA ? try ReceiptSigning.rsa() : try .p256()
        let receipt = try signing.receipt()
        let receipts = ReceiptVerifier(roots: signing.roots)
        // First with unknown certificates, then with known ones.
        for _ in 0..<2 {
            Authenticity.$checksNothing.withValue(true) {
                #expect(transactions.result(text).error == .unchecked)
                #expect(transactions.result(text).error?.verdict.hold == .signatureUnchecked)
                #expect(receipts.error(receipt) == .unchecked)
                #expect(receipts.error(receipt)?.verdict.hold == .signatureUnchecked)
                #expect(receipts.error(receipt)?.provesForgery == false)
            }
            #expect(transactions.result(text).error == nil)
            #expect(receipts.error(receipt) == nil)
        }
        #expect(transactions.chains.counts == (1, 0) && receipts.chains.counts == (1, 0))
    }

    @Test("of this host, SHA-1 signatures can be checked")
    func sha1() {
        #expect(!TrustedRoots.lacksSHA1)
        Authenticity.$checksNothing.withValue(true) { #expect(TrustedRoots.lacksSHA1) }
    }
}
