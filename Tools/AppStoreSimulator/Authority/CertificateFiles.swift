internal import FoundationEssentials

/// The certificate files that clients trust. A file without a chosen place is removed at the latest with this object.
final class CertificateFiles: Sendable {
    let caFile: String
    let rootsFile: String
    private let serverRoot: String
    private let roots: String
    /// Files in the temporary folder.
    private let own: [String]

    /// - Parameters:
    ///   - caFile: Where the TLS authority's certificate is to stand; nil for the temporary folder.
    ///   - rootsFile: Where the roots of evidence are to stand, likewise.
    init(authority: SimulatorAuthority, caFile: String?, rootsFile: String?) {
        serverRoot = authority.serverRootPEM
        roots = authority.rootsPEM
        let name = FileManager.default.temporaryDirectory.path + "/app-store-simulator-\(UUID().uuidString)"
        self.caFile = caFile ?? "\(name).pem"
        self.rootsFile = rootsFile ?? "\(name)-roots.pem"
        own = (caFile == nil ? [self.caFile] : []) + (rootsFile == nil ? [self.rootsFile] : [])
    }

    deinit {
        removeOwn()
    }

    func write() throws(SimulatorError) {
        for (text, file) in [(serverRoot, caFile), (roots, rootsFile)] {
            do {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
            } catch {
                throw .unwritable(file: file)
            }
        }
    }

    func removeOwn() {
        // A file that is not there, or not removable, is the temporary folder's business.
        for file in own { try? FileManager.default.removeItem(atPath: file) }
    }
}
