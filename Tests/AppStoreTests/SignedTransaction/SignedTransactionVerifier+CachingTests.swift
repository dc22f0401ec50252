import Contract
import Cryptography
import FoundationEssentials
import Testing

@testable import AppStore

@Suite("What the verifier of signed transactions remembers")
struct SignedTransactionVerifierCachingTests {
    @Test("a header that was good is not read again, and its chain not looked up")
    func warm() throws {
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let token = try SignedToken()
        for number in 0..<100 {
            var next = token
            next.payload.set("transactionId", "\"\(number)\"")
            #expect(verifier.result(try next.text()).value?.transactionID == TransactionID(String(number)))
        }
        #expect(verifier.statistics == SignedTransactionVerifier.Statistics(hits: 99, misses: 1))
    }

    @Test("a header enters only once its signature held: copies of a good one with changes cannot fill the list")
    func unsigned() throws {
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let token = try SignedToken()
        let text = try token.text()
        _ = try verifier.verify(text, now: Fixture.now)
        let signature = text.split(separator: ".")[2]
        for number in 0..<(JWSHeaderCache.maxCount * 4) {
            var forged = token
            forged.header.append(("kid", "\"\(number)\""))
            let forgery = "\(forged.headerPart).\(forged.payloadPart).\(signature)"
            #expect(verifier.result(forgery).error == .wrongSignature)
        }
        // The chain of all of them is known, and so is the good header still.
        #expect(verifier.statistics.misses == 1)
        #expect(verifier.headers.count == 1)
        let hits = verifier.statistics.hits
        _ = try verifier.verify(text, now: Fixture.now)
        #expect(verifier.statistics == SignedTransactionVerifier.Statistics(hits: hits + 1, misses: 1))
        #expect(verifier.headers.hits == 1)
    }

    @Test("a known header vouches for no signature of another key")
    func knownHeader() throws {
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let token = try SignedToken()
        _ = try verifier.verify(token.text(), now: Fixture.now)
        let forged = token.text(signedBy: try token.signature(by: ChainBuilder().signingKey))
        #expect(verifier.result(forged).error == .wrongSignature)
    }

    @Test("many tasks at once get what one would")
    func concurrent() async throws {
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let good = try SignedToken().text()
        let expected = try verifier.verify(good, now: Fixture.now)
        let foreign = try SignedToken(chain: ChainBuilder()).text()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).allSatisfy { _ in
                        verifier.result(good).value == expected
                            && verifier.result(foreign).error == .chain(.untrusted)
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(verifier.statistics.hits + verifier.statistics.misses == 801)
    }
}
