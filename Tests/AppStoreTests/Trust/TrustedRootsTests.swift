import CertificateMaking
import Cryptography
import Testing

@testable import AppStore

@Suite("Trusted roots")
struct TrustedRootsTests {
    private func pem(_ builder: ChainBuilder) throws -> String {
        try builder.rootCertificate().pem + "\n"
    }

    @Test("Apple Root CA - G3 is built in, with the fingerprint that Apple publishes")
    func builtIn() throws {
        let fingerprints = try TrustedRoots.ofApple().certificates.map { certificate in
            SHA256.hash(certificate.der).hex
        }
        #expect(fingerprints.contains("63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"))
    }

    @Test("PEM text may hold several, with text between them")
    func several() throws {
        let text = try "The first:\n" + pem(ChainBuilder()) + "The second:\n" + pem(ChainBuilder())
        #expect(try TrustedRoots(pem: text).certificates.count == 2)
    }

    @Test(
        "a file that holds no roots is refused",
        arguments: [
            ("", TrustError.empty), ("no certificate", .empty),
            ("-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n", .unreadable),
            ("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", .unreadable),
            (String(repeating: " ", count: TrustedRoots.maxBytes + 1), .tooLarge),
        ])
    func refused(text: String, error: TrustError) {
        #expect(throws: error) { try TrustedRoots(pem: text) }
    }

    @Test("more certificates than the bound are refused, as many are not")
    func bound() throws {
        let one = try pem(ChainBuilder())
        #expect(throws: TrustError.tooLarge) {
            try TrustedRoots(pem: String(repeating: one, count: TrustedRoots.maxCount + 1))
        }
        let all = try TrustedRoots(pem: String(repeating: one, count: TrustedRoots.maxCount))
        #expect(all.certificates.count == TrustedRoots.maxCount)
    }

    @Test("what chains to a root of Apple's that a file replaces has an objection, and proves no forgery")
    func rootNotPinned() throws {
        let own = try ChainBuilder().roots()
        let chain = try ChainVerifier(roots: own)
            .verify(leaf: ChainOfApple.leaf()[...], intermediate: ChainOfApple.intermediate()[...])
        #expect(chain.objection == .rootNotPinned)
        #expect(!ChainError.rootNotPinned.provesForgery)
        let both = TrustedRoots(certificates: own.certificates + (try TrustedRoots.ofApple().certificates))
        let pinned = try ChainVerifier(roots: both)
            .verify(leaf: ChainOfApple.leaf()[...], intermediate: ChainOfApple.intermediate()[...])
        #expect(pinned.objection == nil)
        #expect(both.haveAppleRoots && !own.haveAppleRoots)
    }

    @Test("a certificate that may not issue an intermediate is no root")
    func noAuthority() throws {
        let changes: [(inout ChainBuilder) -> Void] = [
            { $0.root.constraints = nil },
            { $0.root.constraints = .basicConstraints(isAuthority: false) },
            { $0.root.constraints = .basicConstraints(isAuthority: true, pathLength: 0) },
            { $0.root.usage = .keyUsage(.digitalSignature) },
        ]
        for change in changes {
            let text = try pem(ChainBuilder(change))
            #expect(throws: TrustError.noAuthority) { try TrustedRoots(pem: text) }
        }
    }

    @Test("every error has a sentence of its own")
    func details() {
        #expect(Set(TrustError.allCases.map(\.detail)).count == TrustError.allCases.count)
    }
}
