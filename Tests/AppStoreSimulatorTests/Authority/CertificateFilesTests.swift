import Foundation
import Testing

@testable import AppStoreSimulator

struct CertificateFilesTests {
    @Test("Files without a place are removed")
    func removed() throws {
        let files = CertificateFiles(authority: try SimulatorAuthority.shared.get(), caFile: nil, rootsFile: nil)
        try files.write()
        #expect(exists(files.caFile))
        #expect(exists(files.rootsFile))
        files.removeOwn()
        #expect(!exists(files.caFile))
        #expect(!exists(files.rootsFile))
    }

    @Test("Files without a place go with their simulator")
    func removedWithSimulator() throws {
        var files: CertificateFiles? = CertificateFiles(
            authority: try SimulatorAuthority.shared.get(), caFile: nil, rootsFile: nil)
        try files?.write()
        let paths = try #require(files.map { [$0.caFile, $0.rootsFile] })
        #expect(paths.allSatisfy(exists))
        files = nil
        #expect(!paths.contains(where: exists))
    }

    @Test("Files with a place stay")
    func kept() throws {
        try withTemporaryFolder { folder in
            let authority = try SimulatorAuthority.shared.get()
            let caFile = folder.appending(path: "ca.pem").path
            let files = CertificateFiles(authority: authority, caFile: caFile, rootsFile: nil)
            try files.write()
            files.removeOwn()
            #expect(try String(contentsOfFile: caFile, encoding: .utf8) == authority.serverRootPEM)
            #expect(!exists(files.rootsFile))
        }
    }

    private func exists(_ file: String) -> Bool {
        FileManager.default.fileExists(atPath: file)
    }
}
