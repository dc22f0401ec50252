import Foundation
import SwiftASN1
import Testing
import X509

@testable import AppStoreSimulator

struct SimulatorAuthorityTests {
    @Test func receiptsAreSignedByALeafWithAppleMarkers() throws {
        let chain = try SimulatorAuthority.shared.get().receiptChain
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

    @Test func certificatesHoldForOldReceiptsAndForTenYears() throws {
        let made = Date(timeIntervalSince1970: 1_795_237_153)
        let leaf = try SimulatorAuthority(now: made).receiptChain.leaf
        #expect(leaf.notValidBefore < Date(timeIntervalSince1970: 1_375_340_400))
        #expect(leaf.notValidAfter == made + 10 * 365 * 86_400)
    }

    @Test(arguments: SimulatorAuthority.ReceiptAlgorithm.allCases)
    func openSSLAcceptsBothChains(receipts: SimulatorAuthority.ReceiptAlgorithm) throws {
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
        }
    }
}
