import Contract
import Cryptography
import Foundation
import Testing

@testable import AppStoreSimulator

struct BearerTokenTests {
    private let key: ServerAPIKey

    init() throws {
        key = try ServerAPIKey()
    }
    private let app: BundleID = "com.example.game"

    @Test("A fresh token names its app")
    func fresh() throws {
        #expect(try check(token()) == app)
    }

    @Test("A token of an hour is taken to its last second")
    func lifetime() throws {
        let token = try key.token(bundleID: app, issuedAt: now, lifetime: .seconds(3600))
        #expect(try check(token) == app)
        #expect(try check(token, now: now.advanced(by: .seconds(3599))) == app)
        #expect(throws: BearerToken.Refusal.expired) { try check(token, now: now.advanced(by: .seconds(3600))) }
    }

    @Test("A token may not live longer than an hour")
    func longLife() throws {
        let token = try key.token(bundleID: app, issuedAt: now, lifetime: .seconds(3601))
        #expect(throws: BearerToken.Refusal.livesTooLong) { try check(token) }
    }

    @Test("A client's clock may be a minute ahead")
    func clock() throws {
        let soon = try key.token(bundleID: app, issuedAt: now.advanced(by: .seconds(60)))
        let late = try key.token(bundleID: app, issuedAt: now.advanced(by: .seconds(61)))
        #expect(try check(soon) == app)
        #expect(throws: BearerToken.Refusal.issuedInTheFuture) { try check(late) }
    }

    @Test(
        "A header that is not Apple's is refused",
        arguments: [
            ("alg", "\"none\"", BearerToken.Refusal.wrongAlgorithm), ("alg", "\"HS256\"", .wrongAlgorithm),
            ("typ", "\"JWS\"", .wrongAlgorithm), ("kid", "\"OTHER\"", .unknownKey), ("kid", "7", .unreadable),
        ])
    func headers(member: String, json: String, refusal: BearerToken.Refusal) throws {
        let token = try token(header: [.set(name: member, json: json)])
        #expect(throws: refusal) { try check(token) }
    }

    @Test(
        "Claims that are not Apple's are refused",
        arguments: [
            ("iss", "\"other\"", BearerToken.Refusal.unknownKey), ("aud", "\"appstoreconnect-v2\"", .wrongAudience),
            ("exp", "\"soon\"", .unreadable),
        ])
    func claims(member: String, json: String, refusal: BearerToken.Refusal) throws {
        let token = try token(claims: [.set(name: member, json: json)])
        #expect(throws: refusal) { try check(token) }
    }

    @Test("Every claim is asked for", arguments: ["iss", "iat", "exp", "aud", "bid"])
    func missingClaims(member: String) throws {
        let token = try token(claims: [.remove(name: member)])
        #expect(throws: BearerToken.Refusal.unreadable) { try check(token) }
    }

    @Test("Another key's signature is refused")
    func otherKey() throws {
        let names: [MemberChange] = [.set(name: "kid", json: "\"\(key.keyID)\"")]
        let token = try ServerAPIKey().token(
            bundleID: app, issuedAt: now, header: names, claims: [.set(name: "iss", json: "\"\(key.issuerID)\"")])
        #expect(throws: BearerToken.Refusal.wrongSignature) { try check(token) }
    }

    @Test(
        "A text that is no token is refused",
        arguments: ["", "a.b", "a.b.c", "..", String(repeating: "a", count: 5000)])
    func noToken(text: String) {
        #expect(throws: BearerToken.Refusal.unreadable) { try check(text) }
    }

    private func token(header: [MemberChange] = [], claims: [MemberChange] = []) throws -> String {
        try key.token(bundleID: app, issuedAt: now, header: header, claims: claims)
    }

    private func check(_ text: String, now: Timestamp = now) throws -> BundleID {
        let token = try BearerToken(text[...])
        try token.checkOrigin { issuer, id in
            issuer == key.issuerID && id == key.keyID ? key.privateKey.publicKey : nil
        }
        try token.checkTimes(now: now)
        return token.app
    }
}
