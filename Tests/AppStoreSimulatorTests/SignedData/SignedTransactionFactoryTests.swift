import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct SignedTransactionFactoryTests {
    private let authority: SimulatorAuthority
    private let factory: SignedTransactionFactory

    init() throws {
        authority = try SimulatorAuthority.shared.get()
        factory = SignedTransactionFactory(authority: authority)
    }

    @Test("The signature is the leaf's, and the chain is the root's")
    func signature() throws {
        let signed = try SignedData(factory.signed(.sample(), signedAt: now))
        #expect(signed.isSignatureValid)
        #expect(signed.isTrusted(by: authority.signedDataChain.root))
        #expect(!signed.isTrusted(by: authority.receiptChain.root))
        #expect(signed.header.keys.sorted() == ["alg", "x5c"])
        #expect(signed.header["alg"] as? String == "ES256")
        #expect(signed.certificates.count == 3)
    }

    @Test("Another root does not trust it")
    func otherRoot() throws {
        let signed = try SignedData(factory.signed(.sample(), signedAt: now))
        let stranger = try SimulatorAuthority(now: .present).signedDataChain.root
        #expect(!signed.isTrusted(by: stranger))
    }

    @Test("A changed header is signed")
    func changedHeader() throws {
        let text = try factory.signed(
            .sample(), signedAt: now,
            header: [.set(name: "alg", json: "\"none\""), .add(name: "crit", json: "[\"exp\"]")])
        let signed = try SignedData(text)
        #expect(signed.header["alg"] as? String == "none")
        #expect(signed.header["crit"] as? [String] == ["exp"])
        #expect(signed.isSignatureValid)
    }

    @Test("A transaction that is tampered with is not valid")
    func tampered() throws {
        let parts = try factory.signed(.sample(), signedAt: now).split(separator: ".").map(String.init)
        let other = try factory.signed(.sample(.gems("8")), signedAt: now).split(separator: ".").map(String.init)
        #expect(try !SignedData([parts[0], other[1], parts[2]].joined(separator: ".")).isSignatureValid)
    }
}
