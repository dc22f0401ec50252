import Crypto
import Foundation
import Testing
import X509

@testable import AppStoreSimulator

struct SimulatorAuthorityFolderTests {
    @Test func whatIsSavedIsLoaded() throws {
        let authority = try SimulatorAuthority.shared.get()
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority")
            #expect(try authority.save(in: folder))
            let loaded = try SimulatorAuthority(folder: folder)
            #expect(loaded.server == authority.server)
            #expect(loaded.serverKey == authority.serverKey)
            #expect(loaded.receiptChain.leaf == authority.receiptChain.leaf)
            #expect(loaded.receiptKey == authority.receiptKey)
            #expect(loaded.signedDataChain.leaf == authority.signedDataChain.leaf)
            #expect(loaded.signedDataKey.rawRepresentation == authority.signedDataKey.rawRepresentation)
            #expect(
                try String(contentsOf: folder.appending(path: "ca.pem"), encoding: .utf8) == authority.serverRootPEM)
        }
    }

    @Test func keysAreReadableByTheirOwnerOnly() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority")
            #expect(try SimulatorAuthority.shared.get().save(in: folder))
            for name in ["server.key", "receipt.key", "signed-data.key"] {
                let path = folder.appending(path: name).path
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
            }
        }
    }

    @Test func theFirstAuthorityOfAFolderStays() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority")
            let first = try SimulatorAuthority.kept(in: folder, now: Date())
            let second = try SimulatorAuthority.kept(in: folder, now: Date())
            #expect(second.receiptKey == first.receiptKey)
            #expect(try SimulatorAuthority(now: Date()).save(in: folder) == false)
            #expect(try SimulatorAuthority(folder: folder).receiptKey == first.receiptKey)
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["authority"])
        }
    }

    @Test func anEmptyFolderIsFilled() throws {
        try withTemporaryFolder { folder in
            let kept = try SimulatorAuthority.kept(in: folder, now: Date())
            #expect(try SimulatorAuthority(folder: folder).serverKey == kept.serverKey)
        }
    }

    @Test func aFolderThatIsNotThereIsSaidToBeSo() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "nowhere")
            let error = try #require(throws: AuthorityError.self) { try SimulatorAuthority(folder: folder) }
            #expect(error == .noFolder(folder.path))
            #expect(!error.description.contains("delete"))
        }
    }

    @Test(arguments: ["receipt.key", "signed-data-leaf.pem"])
    func aMissingFileIsNamed(file: String) throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority")
            _ = try SimulatorAuthority.kept(in: folder, now: Date())
            try FileManager.default.removeItem(at: folder.appending(path: file))
            #expect(throws: AuthorityError.unreadable(file: file)) { try SimulatorAuthority(folder: folder) }
        }
    }

    @Test func aFolderOfAnAuthorityForReceiptsOnlyIsRefusedAsSuch() throws {
        try withTemporaryFolder { parent in
            let folder = parent.appending(path: "authority")
            _ = try SimulatorAuthority.kept(in: folder, now: Date())
            for file in SimulatorAuthority.File.signedData {
                try FileManager.default.removeItem(at: folder.appending(path: file.rawValue))
            }
            #expect(throws: AuthorityError.withoutSignedData(folder: folder.path)) {
                try SimulatorAuthority.kept(in: folder, now: Date())
            }
        }
    }
}
