import Cryptography
import Foundation
import Testing

@testable import AppStoreSimulator

struct SimulatorAuthorityFolderTests {
    @Test("An authority that is saved is loaded")
    func saved() throws {
        let authority = try SimulatorAuthority.shared.get()
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority").path
            #expect(try authority.save(in: folder))
            let loaded = try SimulatorAuthority(folder: folder)
            #expect(loaded.server.certificate == authority.server.certificate)
            #expect(loaded.server.key == authority.server.key)
            #expect(loaded.receiptChain.leaf == authority.receiptChain.leaf)
            #expect(loaded.receiptKey == authority.receiptKey)
            #expect(loaded.signedDataChain.leaf == authority.signedDataChain.leaf)
            #expect(loaded.signedDataKey == authority.signedDataKey)
            #expect(
                try String(contentsOfFile: "\(folder)/ca.pem", encoding: .utf8) == authority.serverRootPEM)
        }
    }

    @Test("Keys are readable by their owner only")
    func permissions() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority").path
            #expect(try SimulatorAuthority.shared.get().save(in: folder))
            for name in ["server.key", "receipt.key", "signed-data.key"] {
                let path = "\(folder)/\(name)"
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
            }
        }
    }

    @Test("The first authority of a folder stays")
    func first() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority").path
            let first = try SimulatorAuthority.kept(in: folder, now: .present)
            let second = try SimulatorAuthority.kept(in: folder, now: .present)
            #expect(second.receiptKey == first.receiptKey)
            #expect(try SimulatorAuthority(now: .present).save(in: folder) == false)
            #expect(try SimulatorAuthority(folder: folder).receiptKey == first.receiptKey)
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["authority"])
        }
    }

    @Test("An empty folder is filled")
    func filled() throws {
        try withTemporaryFolder { folder in
            let kept = try SimulatorAuthority.kept(in: folder.path, now: .present)
            #expect(try SimulatorAuthority(folder: folder.path).receiptKey == kept.receiptKey)
        }
    }

    @Test("A folder that is not there is said to be so")
    func noFolder() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "nowhere").path
            let error = try #require(throws: AuthorityError.self) { try SimulatorAuthority(folder: folder) }
            #expect(error == .noFolder(folder))
            #expect(!error.description.contains("delete"))
        }
    }

    @Test("A missing file is named", arguments: ["receipt.key", "signed-data-leaf.pem"])
    func missingFile(file: String) throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority").path
            _ = try SimulatorAuthority.kept(in: folder, now: .present)
            try FileManager.default.removeItem(atPath: "\(folder)/\(file)")
            #expect(throws: AuthorityError.unreadable(file: file)) { try SimulatorAuthority(folder: folder) }
        }
    }

    @Test("An RSA key is kept, too")
    func rsa() throws {
        try withTemporaryFolder { folder in
            let kept = try SimulatorAuthority.kept(in: folder.path, receipts: .rsa, now: .present)
            #expect(kept.receiptKey.publicKey.kind == .rsa(bits: 2048))
            #expect(try SimulatorAuthority(folder: folder.path).receiptKey == kept.receiptKey)
        }
    }
}
