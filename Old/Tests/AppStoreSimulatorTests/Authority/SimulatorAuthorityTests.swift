import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import AppStoreSimulator

struct SimulatorAuthorityTests {
    @Test(arguments: [\SimulatorAuthority.receiptChain, \.signedDataChain])
    func evidenceIsSignedByALeafWithAppleMarkers(
        path: any KeyPath<SimulatorAuthority, SigningChain> & Sendable
    ) throws {
        let chain = try SimulatorAuthority.shared.get()[keyPath: path]
        let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
        let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
        #expect(chain.leaf.extensions[oid: leafMarker] != nil)
        #expect(chain.leaf.extensions[oid: intermediateMarker] == nil)
        #expect(chain.intermediate.extensions[oid: intermediateMarker] != nil)
        #expect(try chain.leaf.extensions.basicConstraints == .notCertificateAuthority)
        #expect(try chain.intermediate.extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
        #expect(chain.leaf.issuer == chain.intermediate.subject)
        #expect(chain.intermediate.issuer == chain.root.subject)
        #expect(chain.root.publicKey.isValidSignature(chain.intermediate.signature, for: chain.intermediate))
        #expect(chain.intermediate.publicKey.isValidSignature(chain.leaf.signature, for: chain.leaf))
    }

    @Test func signedDataHasTheKeysAndSignaturesOfApples() throws {
        let chain = try SimulatorAuthority.shared.get().signedDataChain
        #expect(P384.Signing.PublicKey(chain.root.publicKey) != nil)
        #expect(P384.Signing.PublicKey(chain.intermediate.publicKey) != nil)
        #expect(P256.Signing.PublicKey(chain.leaf.publicKey) != nil)
        for certificate in [chain.root, chain.intermediate, chain.leaf] {
            #expect(certificate.signatureAlgorithm == .ecdsaWithSHA384)
        }
    }

    @Test func certificatesHoldForOldEvidenceAndForTenYears() throws {
        let made = Date(timeIntervalSince1970: 1_795_237_153)
        let authority = try SimulatorAuthority(now: made)
        for leaf in [authority.receiptChain.leaf, authority.signedDataChain.leaf] {
            #expect(leaf.notValidBefore < Date(timeIntervalSince1970: 1_375_340_400))
            #expect(leaf.notValidAfter == made + 10 * 365 * 86_400)
        }
    }

    @Test func bothRootsStandInOneText() throws {
        let authority = try SimulatorAuthority.shared.get()
        let documents = try PEMDocument.parseMultiple(pemString: authority.rootsPEM)
        let roots = try documents.map { try Certificate(pemDocument: $0) }
        #expect(roots == [authority.receiptChain.root, authority.signedDataChain.root])
    }

    @Test(arguments: SimulatorAuthority.ReceiptAlgorithm.allCases)
    func openSSLAcceptsEveryChain(receipts: SimulatorAuthority.ReceiptAlgorithm) throws {
        let authority = try SimulatorAuthority(receipts: receipts, now: Date())
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority")
            #expect(try authority.save(in: folder))
            func path(_ file: SimulatorAuthority.File) -> String { folder.appending(path: file.rawValue).path }
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
