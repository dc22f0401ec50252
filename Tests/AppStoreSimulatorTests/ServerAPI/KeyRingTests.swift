import CertificateMaking
import Contract
import Cryptography
import Foundation
import Testing

@testable import AppStoreSimulator

struct KeyRingTests {
    private let key: ServerAPIKey

    init() throws {
        key = try ServerAPIKey()
    }

    @Test("Only bearers are read")
    func bearers() throws {
        var ring = try ring()
        let token = try key.token(bundleID: "a", issuedAt: now)
        #expect(try ring.app(of: "Bearer \(token)", now: now) == "a")
        for authorization in [nil, "", token, "Basic \(token)"] {
            #expect(throws: BearerToken.Refusal.absent) { try ring.app(of: authorization, now: now) }
        }
    }

    @Test("A token that was good still expires")
    func expiry() throws {
        var ring = try ring()
        let authorization = "Bearer \(try key.token(bundleID: "a", issuedAt: now))"
        #expect(try ring.app(of: authorization, now: now) == "a")
        #expect(throws: BearerToken.Refusal.expired) {
            try ring.app(of: authorization, now: now.advanced(by: .seconds(601)))
        }
    }

    @Test("A token that was good is checked again when its key is replaced")
    func replacedKey() throws {
        var ring = try ring()
        let authorization = "Bearer \(try key.token(bundleID: "a", issuedAt: now))"
        #expect(try ring.app(of: authorization, now: now) == "a")
        try ring.accept(PrivateKey.make(.p256).publicKey, issuerID: key.issuerID, keyID: key.keyID)
        #expect(throws: BearerToken.Refusal.wrongSignature) { try ring.app(of: authorization, now: now) }
    }

    @Test("Keys have a limit")
    func limit() throws {
        var ring = KeyRing()
        let publicKey = key.privateKey.publicKey
        for number in 0..<KeyRing.keyLimit { try ring.accept(publicKey, issuerID: "i", keyID: "\(number)") }
        #expect(throws: KeyRing.Full.self) { try ring.accept(publicKey, issuerID: "i", keyID: "more") }
        #expect(throws: Never.self) { try ring.accept(publicKey, issuerID: "i", keyID: "0") }
    }

    private func ring() throws -> KeyRing {
        var ring = KeyRing()
        try ring.accept(key.privateKey.publicKey, issuerID: key.issuerID, keyID: key.keyID)
        return ring
    }
}
