import Foundation

/// The files that tell clients whom to trust. Those that nobody chose a place for are removed at the latest with this
/// object.
final class CertificateFiles: Sendable {
    let caFile: URL
    let rootsFile: URL
    private let serverRoot: Data
    private let roots: Data
    /// Files in the temporary folder.
    private let own: [URL]

    /// - Parameters:
    ///   - caFile: Where the TLS authority's certificate is to stand; nil for the temporary folder.
    ///   - rootsFile: Where the roots of evidence are to stand, likewise.
    init(authority: SimulatorAuthority, caFile: URL?, rootsFile: URL?) throws(AuthorityError) {
        serverRoot = Data(try authority.serverRootPEM.utf8)
        roots = Data(try authority.rootsPEM.utf8)
        let folder = FileManager.default.temporaryDirectory
        let name = "app-store-simulator-\(UUID().uuidString)"
        let ownCAFile = folder.appending(path: "\(name).pem")
        let ownRootsFile = folder.appending(path: "\(name)-roots.pem")
        self.caFile = caFile ?? ownCAFile
        self.rootsFile = rootsFile ?? ownRootsFile
        own = (caFile == nil ? [ownCAFile] : []) + (rootsFile == nil ? [ownRootsFile] : [])
    }

    deinit {
        removeOwn()
    }

    func write() throws {
        try serverRoot.write(to: caFile, options: .atomic)
        try roots.write(to: rootsFile, options: .atomic)
    }

    func removeOwn() {
        // What is not there, or not removable, is the temporary folder's business.
        for file in own { try? FileManager.default.removeItem(at: file) }
    }
}
