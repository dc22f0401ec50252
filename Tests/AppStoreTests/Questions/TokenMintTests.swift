import CertificateMaking
import Contract
import Cryptography
import Foundation
import Testing

@testable import AppStore

@Suite("Token mint")
struct TokenMintTests {
    private let key = PrivateKey.new(.p256)

    private func mint() throws -> TokenMint {
        TokenMint(
            credentials: try ServerAPICredentials(
                issuerID: "issuer", keyID: "KEY", privateKeyPEM: try key.pem),
            bundleID: "com.example.game")
    }

    private func decoded(_ part: Substring) throws -> [String: Any] {
        let json = try #require(Base64URL.decode(Array(part.utf8)[...]))
        return try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    }

    private func after(_ seconds: Int64) -> Timestamp { Fixture.now.advanced(by: .seconds(seconds)) }

    @Test("makes JWTs of Apple's claims, signed with the key, for twenty minutes")
    func claims() throws {
        let token = try #require(try mint().token(now: Fixture.now))
        let parts = token.text.split(separator: ".")
        #expect(parts.count == 3)
        let header = try decoded(parts[0])
        #expect(header as? [String: String] == ["alg": "ES256", "kid": "KEY", "typ": "JWT"])
        let claims = try decoded(parts[1])
        #expect(Set(claims.keys) == ["iss", "iat", "exp", "aud", "bid"])
        #expect(claims["iss"] as? String == "issuer")
        #expect(claims["aud"] as? String == "appstoreconnect-v1")
        #expect(claims["bid"] as? String == "com.example.game")
        // A little in the past, so that a slightly fast clock is no reason to refuse it.
        let issued = Fixture.now.milliseconds / 1000 - 30
        #expect(claims["iat"] as? Int64 == issued)
        #expect(claims["exp"] as? Int64 == issued + 1200)
        let raw = try #require(Base64URL.decode(Array(parts[2].utf8)[...]))
        let digest = SHA256.hash(Array("\(parts[0]).\(parts[1])".utf8))
        #expect(key.publicKey.isValidES256Signature(raw, of: digest))
    }

    @Test("replaces a token before half of its life is over, within Apple's hour")
    func renewal() throws {
        let mint = try mint()
        let first = try #require(mint.token(now: Fixture.now)?.text)
        #expect(mint.token(now: after(539))?.text == first)
        let second = try #require(mint.token(now: after(540)))
        #expect(second.text != first && second.number == 2)
        #expect((TokenMint.renewalAge + TokenMint.backdating) * 2 < TokenMint.lifetime)
        #expect(TokenMint.lifetime <= .seconds(3600))
    }

    @Test("makes a new one when the clock was set back, and none because callers read it out of order")
    func clock() throws {
        let mint = try mint()
        for seconds in [600, 598, 601, 595, 599] as [Int64] { _ = mint.token(now: after(seconds)) }
        #expect(mint.token(now: after(599))?.number == 1)
        #expect(mint.token(now: after(580))?.number == 2)
    }

    @Test("makes one new token however many callers were refused with the old one")
    func refused() async throws {
        let mint = try mint()
        let old = try #require(mint.token(now: Fixture.now))
        let texts = await withTaskGroup { group in
            for number in 0..<1000 {
                group.addTask {
                    mint.refused(old)
                    return mint.token(now: after(60 + Int64(number) % 3))?.text
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(mint.token(now: after(62))?.number == 2)
        #expect(texts.count == 1)
        #expect(!texts.contains(old.text))
    }

    @Test("with a key that is refused for ever, signs once in a while and not for every caller")
    func wrongKey() throws {
        let mint = try mint()
        for call in 0..<10_000 {
            let token = try #require(mint.token(now: after(Int64(call) / 100)))
            mint.refused(token)
        }
        #expect(mint.token(now: after(99))?.number == 10)
    }

    @Test("a late word about an old token leaves the new one alone")
    func lateRefusal() throws {
        let mint = try mint()
        let old = try #require(mint.token(now: Fixture.now))
        let new = try #require(mint.token(now: after(540)))
        mint.refused(old)
        #expect(mint.token(now: after(600))?.text == new.text)
    }

    @Test("one token serves all who ask at once")
    func shared() async throws {
        let mint = try mint()
        await withDiscardingTaskGroup { group in
            for number in 0..<1000 { group.addTask { _ = mint.token(now: after(Int64(number % 5))) } }
        }
        #expect(mint.token(now: after(4))?.number == 1)
    }
}

@Suite("Bearer token")
struct BearerTokenTests {
    @Test("does not show itself, alone or within something else")
    func redacted() {
        let token = BearerToken(text: "eyJhbGciOi.secret.secret", number: 1)
        var shown = "\(token) \(String(reflecting: token)) \([token]) \(Optional(token) as Any)"
        dump(token, to: &shown)
        #expect(!shown.contains("secret"))
        #expect("\(token)" == "<redacted>")
    }
}
