import Contract
import Cryptography
import Foundation
import Testing

@testable import AppStoreSimulator

struct SimulatorAuthorityTests {
    private typealias Chain = (leaf: Certificate, intermediate: Certificate, root: Certificate)

    private func certificates(_ chain: SigningChain) throws -> Chain {
        (
            try Certificate(der: chain.leaf), try Certificate(der: chain.intermediate),
            try Certificate(der: chain.root)
        )
    }

    @Test(
        "Evidence is signed by a leaf with Apple's markers",
        arguments: [\SimulatorAuthority.receiptChain, \.signedDataChain])
    func markers(
        path: any KeyPath<SimulatorAuthority, SigningChain> & Sendable
    ) throws {
        let chain = try certificates(SimulatorAuthority.shared.get()[keyPath: path])
        let leafMarker = "1.2.840.113635.100.6.11.1"
        let intermediateMarker = "1.2.840.113635.100.6.2.1"

        #expect(chain.leaf.hasExtension(leafMarker))
        #expect(!chain.leaf.hasExtension(intermediateMarker))
        #expect(chain.intermediate.hasExtension(intermediateMarker))
        #expect(!chain.leaf.isAuthority)
        #expect(chain.intermediate.isAuthority && chain.intermediate.pathLength == 0)
        #expect(chain.leaf.issuer == chain.intermediate.subject)
        #expect(chain.intermediate.issuer == chain.root.subject)
        #expect(chain.intermediate.isSigned(by: chain.root.publicKey))
        #expect(chain.leaf.isSigned(by: chain.intermediate.publicKey))
    }

    @Test("Signed data has the keys and signatures of Apple's")
    func signedData() throws {
        let chain = try certificates(SimulatorAuthority.shared.get().signedDataChain)
        #expect(chain.root.publicKey.kind == .p384)
        #expect(chain.intermediate.publicKey.kind == .p384)
        #expect(chain.leaf.publicKey.kind == .p256)
        for certificate in [chain.root, chain.intermediate, chain.leaf] {
            #expect(certificate.signatureAlgorithm == .ecdsaWithSHA384)
        }
    }

    @Test("Certificates hold for old evidence and for ten years")
    func validity() throws {
        let authority = try SimulatorAuthority(now: now)
        for chain in [authority.receiptChain, authority.signedDataChain] {
            let validity = try #require(try certificates(chain).leaf.validity)
            #expect(validity.lowerBound < 1_375_340_400)
            #expect(validity.upperBound == now.milliseconds / 1000 + 10 * 365 * 86_400)
        }
    }

    @Test("The server's certificate holds for a host that is named")
    func host() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority").path
            #expect(try SimulatorAuthority(host: "apple.test", now: .present).save(in: folder))
            func path(_ file: SimulatorAuthority.File) -> String { "\(folder)/\(file.rawValue)" }
            for (name, holds) in [("apple.test", true), ("localhost", true), ("other.test", false)] {
                let answer = try openssl(
                    "verify", "-CAfile", path(.serverRoot), "-verify_hostname", name, path(.server))
                #expect((answer.status == 0) == holds, "\(name): \(answer.output)")
            }
        }
    }

    @Test("Both roots stand in one text")
    func roots() throws {
        let authority = try SimulatorAuthority.shared.get()
        let roots = try Certificate.certificates(pem: authority.rootsPEM)
        #expect(roots.map(\.der) == [authority.receiptChain.root, authority.signedDataChain.root])
    }

    @Test("OpenSSL accepts every chain", arguments: SimulatorAuthority.ReceiptAlgorithm.allCases)
    func openSSL(receipts: SimulatorAuthority.ReceiptAlgorithm) throws {
        let authority = try SimulatorAuthority(receipts: receipts, now: .present)
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority").path
            #expect(try authority.save(in: folder))
            func path(_ file: SimulatorAuthority.File) -> String { "\(folder)/\(file.rawValue)" }
            let server = try openssl(
                "verify", "-CAfile", path(.serverRoot), "-verify_ip", "127.0.0.1", "-purpose", "sslserver",
                path(.server))
            #expect(server.status == 0, "\(server.output)")
            let leaf = try openssl(
                "verify", "-CAfile", path(.receiptRoot), "-untrusted", path(.receiptIntermediate), path(.receiptLeaf))
            #expect(leaf.status == 0, "\(leaf.output)")
            let signedData = try openssl(
                "verify", "-CAfile", path(.signedDataRoot), "-untrusted", path(.signedDataIntermediate),
                path(.signedDataLeaf))
            #expect(signedData.status == 0, "\(signedData.output)")
        }
    }
}
