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

    /// Chains of Apple's own that break a rule of ours.
    static let objections: [(ChainError, @Sendable (inout ChainBuilder) -> Void)] = [
        (.wrongPurpose, { $0.intermediate.marker = nil }),
        (.wrongRole, { $0.intermediate.constraints = .basicConstraints(isAuthority: false) }),
        (.wrongRole, { $0.leaf.constraints = .basicConstraints(isAuthority: true) }),
        (.unknownCriticalExtension, { $0.leaf.extensions = [ChainVerifierTests.critical] }),
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

    @Test(
        "what Apple's own leaf signed is not taken, and held, where a rule of ours objects to its certificates",
        arguments: objections.indices)
    func objection(index: Int) throws {
        let (error, change) = Self.objections[index]
        let token = try SignedToken(chain: ChainBuilder(change))
        let verifier = SignedTransactionVerifier(roots: try token.chain.roots())
        for _ in 0..<2 {
            #expect(try verifier.result(token.text()).error == .objection(error))
            let forged = token.text(signedBy: try token.signature(by: .new(.p256)))
            #expect(verifier.result(forged).error == .wrongSignature, "anybody can copy certificates")
        }
        #expect(verifier.headers.count == 0)
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
        #expect(verifier.chains.verifications == 1)
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
        #expect(verifier.chains.verifications == 1)
        #expect(verifier.headers.count == 1)
        #expect(verifier.headers.key(of: Array(token.headerPart.utf8)[...]) != nil)
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
        // Callers that came during the first verification of the foreign chain did their own.
        #expect((2...9).contains(verifier.chains.verifications))
    }
}

@Suite("Remembered headers")
struct JWSHeaderCacheTests {
    private let signer = ChainBuilder().signingKey.publicKey

    private func key() -> SigningKey {
        SigningKey(key: signer, validity: ChainBuilder.start...ChainBuilder.end, objection: nil, header: header(0))
    }

    private func header(_ number: Int) -> ArraySlice<UInt8> { Array("header-\(number)".utf8)[...] }

    @Test("a header is known by all of its bytes")
    func known() {
        let cache = JWSHeaderCache()
        let key = key()
        cache.remember(header(1), key)
        cache.remember(header(2), self.key())
        #expect(cache.key(of: header(1)) === key)
        #expect(cache.key(of: header(3)) == nil)
        #expect(cache.key(of: header(1).dropLast()) == nil)
    }

    @Test("a byte that differs, anywhere, makes another header", arguments: [8, 9, 15, 16, 17, 31])
    func everyByte(count: Int) {
        let cache = JWSHeaderCache()
        let header = [UInt8](repeating: 65, count: count)
        cache.remember(header[...], key())
        // A part of a longer text, which begins elsewhere.
        #expect(cache.key(of: ([46] + header + [46])[1...count]) != nil)
        for index in header.indices {
            var other = header
            other[index] ^= 1
            #expect(cache.key(of: other[...]) == nil)
        }
        #expect(cache.key(of: (header + [65])[...]) == nil)
    }

    @Test("there is room for a few; the oldest gives way, and one that is known takes no second place")
    func bound() {
        let cache = JWSHeaderCache()
        let key = key()
        for number in 0...JWSHeaderCache.maxCount {
            cache.remember(header(number), key)
            cache.remember(header(number), key)
        }
        #expect(cache.count == JWSHeaderCache.maxCount)
        #expect(cache.key(of: header(0)) == nil)
        #expect(cache.key(of: header(1)) != nil)
        #expect(cache.key(of: header(JWSHeaderCache.maxCount)) != nil)
    }
}

@Suite("Parts of a compact JWS")
struct CompactJWSTests {
    /// For a text among dots that are not its own.
    private func parts(_ text: String) -> [String]? {
        let text = EvidenceText(Array("..\(text)..".utf8).dropFirst(2).dropLast(2))
        guard let token = try? CompactJWS(text) else { return nil }
        return [token.header, token.payload, token.signature].map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("three parts", arguments: ["a.b.c", " a.b.c", "a.b.c\n", "\t\r\n a.b.c \u{B}\u{C}"])
    func split(text: String) {
        #expect(parts(text) == ["a", "b", "c"])
    }

    @Test("empty parts are parts: what is wrong with them shows later")
    func empty() {
        #expect(parts("..") == ["", "", ""])
    }

    @Test("parts of any length", arguments: 0..<20)
    func lengths(first: Int) {
        // Beside the dot in ASCII, and with a byte that differs from it in its highest bit alone.
        let fillers = ["a", "/", "-", "\u{00AE}"]
        for second in 0..<20 {
            let filler = fillers[(first + second) % fillers.count]
            let header = String(repeating: filler, count: first)
            let payload = String(repeating: filler, count: second)
            #expect(parts("\(header).\(payload).c") == [header, payload, "c"])
            #expect(parts("\(header).\(payload)") == nil)
            #expect(parts("\(header).\(payload).c\(payload).") == nil)
        }
    }

    @Test("other numbers of parts", arguments: ["", " ", "a", "a.b", "a.b.c.d", "a.b.c.d.e", "....", ".", "a. b"])
    func refused(text: String) {
        #expect(throws: SignedTransactionError.notThreeParts) { try CompactJWS(EvidenceText(text)) }
    }

    @Test("white space of Unicode is no white space of ours")
    func unicodeSpace() {
        #expect(parts("\u{A0}a.b.c")?.first == "\u{A0}a")
    }

    @Test("the bound on the size holds before anything is looked at")
    func size() {
        let limit = SignedTransactionVerifier.maxBytes
        #expect(parts(String(repeating: "a", count: limit - 4) + ".b.c") != nil)
        let beyond = EvidenceText(String(repeating: ".", count: limit + 1))
        #expect(throws: SignedTransactionError.tooLarge) { try CompactJWS(beyond) }
    }
}
