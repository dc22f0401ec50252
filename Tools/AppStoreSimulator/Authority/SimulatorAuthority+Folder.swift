internal import CertificateMaking
public import Contract
internal import Cryptography
internal import FoundationEssentials
internal import Glibc

extension SimulatorAuthority {
    /// The names of the files of an authority's folder.
    public enum File: String, CaseIterable, Sendable {
        /// A client trusts it to reach the simulator over TLS.
        case serverRoot = "ca.pem"
        case server = "server.pem"
        case serverKey = "server.key"
        /// A local check of receipts trusts it.
        case receiptRoot = "receipt-root.pem"
        case receiptIntermediate = "receipt-intermediate.pem"
        case receiptLeaf = "receipt-leaf.pem"
        case receiptKey = "receipt.key"
        /// The verification of signed transactions trusts it.
        case signedDataRoot = "signed-data-root.pem"
        case signedDataIntermediate = "signed-data-intermediate.pem"
        case signedDataLeaf = "signed-data-leaf.pem"
        case signedDataKey = "signed-data.key"

        var isSecret: Bool { self == .serverKey || self == .receiptKey || self == .signedDataKey }

    }

    /// The authority of a folder. If the folder has none yet, a new authority is made and kept there.
    ///
    /// Processes that start together on one folder get the same authority. The folder appears whole or not at all, and
    /// the second process reads the first one's.
    /// - Throws: ``AuthorityError``.
    public static func kept(
        in folder: String, receipts: ReceiptAlgorithm = .ecdsa, host: String? = nil, now: Timestamp
    ) throws(AuthorityError) -> SimulatorAuthority {
        if !FileManager.default.fileExists(atPath: File.serverRoot.path(in: folder)) {
            let new = try SimulatorAuthority(receipts: receipts, host: host, now: now)
            if try new.save(in: folder) { return new }
        }
        return try SimulatorAuthority(folder: folder)
    }

    /// Reads an authority that ``save(in:)`` wrote.
    ///
    /// - Throws: ``AuthorityError/noFolder(_:)``; ``AuthorityError/unreadable(file:)`` for the first file that is
    ///   missing or is not what its name says.
    public init(folder: String) throws(AuthorityError) {
        guard FileManager.default.fileExists(atPath: folder) else { throw .noFolder(folder) }
        func text(_ file: File) throws(AuthorityError) -> String {
            guard let text = try? String(contentsOfFile: file.path(in: folder), encoding: .utf8) else {
                throw .unreadable(file: file.rawValue)
            }
            return text
        }
        func certificate(_ file: File) throws(AuthorityError) -> [UInt8] {
            guard let found = try? Certificate.certificates(pem: text(file)), found.count == 1 else {
                throw .unreadable(file: file.rawValue)
            }
            return found[0].der
        }
        func key(_ file: File) throws(AuthorityError) -> PrivateKey {
            guard let key = try? PrivateKey.read(pem: text(file)) else { throw .unreadable(file: file.rawValue) }
            return key
        }
        for file in [File.serverRoot, .server] { _ = try certificate(file) }
        _ = try key(.serverKey)
        self.init(
            server: ServerTexts(
                root: try text(.serverRoot), certificate: try text(.server), key: try text(.serverKey)),
            receiptChain: SigningChain(
                leaf: try certificate(.receiptLeaf), intermediate: try certificate(.receiptIntermediate),
                root: try certificate(.receiptRoot)),
            receiptKey: try key(.receiptKey),
            signedDataChain: SigningChain(
                leaf: try certificate(.signedDataLeaf), intermediate: try certificate(.signedDataIntermediate),
                root: try certificate(.signedDataRoot)),
            signedDataKey: try key(.signedDataKey))
    }

    /// Writes the authority to a folder that does not exist yet or is empty, its keys readable by their owner only.
    ///
    /// - Returns: False, with nothing written, if the folder holds something already.
    /// - Throws: ``AuthorityError/unwritable(folder:)``.
    public func save(in folder: String) throws(AuthorityError) -> Bool {
        let target = URL(filePath: folder)
        let draft = target.deletingLastPathComponent().appending(path: ".\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: draft, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for file in File.allCases {
                let path = draft.appending(path: file.rawValue).path
                let attributes = [FileAttributeKey.posixPermissions: file.isSecret ? 0o600 : 0o644]
                let text = try text(of: file)
                guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes)
                else { throw AuthorityError.unwritable(folder: folder) }
            }
        } catch {
            throw .unwritable(folder: folder)
        }
        // rename(2) is atomic and refuses a folder that is not empty; FileManager would refuse an empty one, too.
        guard rename(draft.path, target.path) != 0 else { return true }
        let reason = errno
        try? FileManager.default.removeItem(at: draft)
        guard reason == ENOTEMPTY || reason == EEXIST else { throw .unwritable(folder: folder) }
        return false
    }

    private func text(of file: File) throws(AuthorityError) -> String {
        func text(_ certificate: [UInt8]) throws(AuthorityError) -> String {
            guard let text = pem(certificate) else { throw .certificateRefused("PEM") }
            return text
        }
        func text(_ key: PrivateKey) throws(AuthorityError) -> String {
            do { return try key.pem } catch { throw .certificateRefused(error.what) }
        }
        return switch file {
        case .serverRoot: server.root
        case .server: server.certificate
        case .serverKey: server.key
        case .receiptRoot: try text(receiptChain.root)
        case .receiptIntermediate: try text(receiptChain.intermediate)
        case .receiptLeaf: try text(receiptChain.leaf)
        case .receiptKey: try text(receiptKey)
        case .signedDataRoot: try text(signedDataChain.root)
        case .signedDataIntermediate: try text(signedDataChain.intermediate)
        case .signedDataLeaf: try text(signedDataChain.leaf)
        case .signedDataKey: try text(signedDataKey)
        }
    }
}

extension SimulatorAuthority.File {
    fileprivate func path(in folder: String) -> String { URL(filePath: folder).appending(path: rawValue).path }
}
