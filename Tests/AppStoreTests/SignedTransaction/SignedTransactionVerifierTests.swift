import CertificateMaking
import Contract
import Cryptography
import FoundationEssentials
import Testing

@testable import AppStore

@Suite("Signed transactions")
struct SignedTransactionVerifierTests {
    /// Chains that lead elsewhere, each with its own root trusted.
    static let chains: [(ChainError?, @Sendable (inout ChainBuilder) -> Void)] = [
        (.wrongPurpose, { $0.leaf.marker = nil }),
        (.wrongPurpose, { $0.intermediate.marker = nil }),
        (.wrongRole, { $0.intermediate.constraints = .basicConstraints(isAuthority: false) }),
        (.wrongRole, { $0.leaf.constraints = .basicConstraints(isAuthority: true) }),
        (
            .weakSignature,
            {
                $0.intermediate.key = .new(.rsa(bits: 2048))
                $0.leaf.digest = .sha1
            }
        ),
        (.broken, { $0.leaf.signer = .new(.p384) }),
        (.untrusted, { $0.intermediate.signer = .new(.p384) }),
    ]

    @Test(
        "a text verifies or does not, with a fresh verifier and with one that knows the signer",
        arguments: SignedCase.headers + SignedCase.payloads + SignedCase.texts)
    func verdicts(_ testCase: SignedCase) throws {
        let roots = try SignedToken.chain.roots()
        let text = try testCase.text()
        #expect(SignedTransactionVerifier(roots: roots).result(text).error == testCase.error)
        let warm = SignedTransactionVerifier(roots: roots)
        _ = try warm.verify(SignedToken().text(), now: Fixture.now)
        #expect(warm.result(text).error == testCase.error)
        // Once more, with whatever the text itself left behind.
        #expect(warm.result(text).error == testCase.error)
    }

    @Test("the certificates decide whether the signature counts", arguments: chains.indices)
    func certificates(index: Int) throws {
        let (error, change) = Self.chains[index]
        let token = try SignedToken(chain: ChainBuilder(change))
        #expect(try token.verified().error == error.map { .chain($0) })
    }

    @Test("a root of one's own, presented in x5c, is nobody's")
    func ownRoot() throws {
        let verifier = SignedTransactionVerifier(roots: try .ofApple())
        #expect(verifier.result(try SignedToken().text()).error == .chain(.untrusted))
    }

    @Test("keys on other curves, and RSA keys, sign nothing here")
    func otherKeys() throws {
        for key in [PrivateKey.new(.p384), .new(.rsa(bits: 2048)), .new(.p256SpelledOut)] {
            #expect(try SignedToken(chain: ChainBuilder { $0.leaf.key = key }).verified().error == .wrongKey)
        }
    }

    @Test("a transaction whose certificates ran out since verifies for ever; one signed after that never does")
    func expired() throws {
        let token = try SignedToken()
        let century = Fixture.now.advanced(by: .seconds(86_400 * 36_500))
        #expect(try token.verified(now: century).error == nil)
        let late = try SignedToken(["signedDate": String(ChainBuilder.end.milliseconds + 1)])
        #expect(try late.verified(now: century).error == .outsideValidity)
    }

    @Test("a clock that is slow waits for the moment from which the transaction verifies")
    func slowClock() throws {
        let token = try SignedToken()
        let slow = Fixture.now.advanced(by: .seconds(-86_400))
        guard case .signedAhead(let moment)? = try token.verified(now: slow).error else {
            Issue.record("not ahead")
            return
        }
        #expect(try token.verified(now: moment).error == nil)
        #expect(try token.verified(now: moment.advanced(by: .milliseconds(-1))).error == .signedAhead(until: moment))
    }

    @Test("both forms of a signature give the same transaction: the text is no identity")
    func malleability() throws {
        let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
        let token = try SignedToken()
        let raw = try token.signature()
        var negated = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let start = order.index(order.startIndex, offsetBy: index * 2)
            let digit = try #require(Int(order[start..<order.index(start, offsetBy: 2)], radix: 16))
            let difference = digit - Int(raw[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            negated[index] = UInt8(truncatingIfNeeded: difference)
        }
        let other = token.text(signedBy: raw[..<32] + negated)
        let verifier = SignedTransactionVerifier(roots: try token.chain.roots())
        #expect(other != (try token.text()))
        let first = verifier.result(token.text(signedBy: raw)).value
        #expect(verifier.result(other).value == first)
        #expect(first != nil)
    }

    @Test("the standard alphabet in any part is refused: a transaction has one spelling per signature")
    func standardAlphabet() throws {
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        var found = 0
        for _ in 0..<20 {
            let parts = try SignedToken().text().split(separator: ".").map(String.init)
            let signature = String(parts[2].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
            guard signature != parts[2] else { continue }
            found += 1
            #expect(verifier.result("\(parts[0]).\(parts[1]).\(signature)").error == .notBase64URL)
        }
        #expect(found > 0)
    }
}
