import Crypto
public import Foundation
import SwiftASN1
import X509

#if canImport(Glibc)
    import Glibc
#endif

extension SimulatorAuthority {
    /// The names of the files of an authority's folder.
    public enum File: String, CaseIterable, Sendable {
        /// What a client trusts to reach the simulator over TLS.
        case serverRoot = "ca.pem"
        case server = "server.pem"
        case serverKey = "server.key"
        /// What a local validation of receipts trusts.
        case receiptRoot = "receipt-root.pem"
        case receiptIntermediate = "receipt-intermediate.pem"
        case receiptLeaf = "receipt-leaf.pem"
        case receiptKey = "receipt.key"
        /// What the verification of signed transactions trusts.
        case signedDataRoot = "signed-data-root.pem"
        case signedDataIntermediate = "signed-data-intermediate.pem"
        case signedDataLeaf = "signed-data-leaf.pem"
        case signedDataKey = "signed-data.key"

        var isSecret: Bool { self == .serverKey || self == .receiptKey || self == .signedDataKey }

        static let signedData: [File] = [.signedDataRoot, .signedDataIntermediate, .signedDataLeaf, .signedDataKey]
    }

    /// The authority kept in a folder; if there is none yet, a new one that is kept there from now on.
    ///
    /// Processes that start together on one folder end up with the same authority: the folder appears whole or not at
    /// all, and whoever comes second reads the first one's.
    /// - Throws: ``AuthorityError``.
    public static func kept(
        in folder: URL, receipts: ReceiptAlgorithm = .ecdsa, now: Date
    ) throws(AuthorityError) -> SimulatorAuthority {
        if !FileManager.default.fileExists(atPath: File.serverRoot.path(in: folder)) {
            let new = try SimulatorAuthority(receipts: receipts, now: now)
            if try new.save(in: folder) { return new }
        }
        return try SimulatorAuthority(folder: folder)
    }

    /// Reads an authority that ``save(in:)`` wrote.
    /// - Throws: ``AuthorityError/noFolder(_:)``; ``AuthorityError/unreadable(file:)`` for the first file that is missing or is
    ///   not what its name says; ``AuthorityError/withoutSignedData(folder:)``.
    public init(folder: URL) throws(AuthorityError) {
        guard FileManager.default.fileExists(atPath: folder.path) else { throw .noFolder(folder.path) }
        let serverRoot = try Self.certificate(.serverRoot, in: folder)
        guard File.signedData.contains(where: { FileManager.default.fileExists(atPath: $0.path(in: folder)) }) else {
            throw .withoutSignedData(folder: folder.path)
        }
        self.init(
            serverRoot: serverRoot, server: try Self.certificate(.server, in: folder),
            serverKey: try Self.read(.serverKey, in: folder, Certificate.PrivateKey.init(pemEncoded:)),
            receiptChain: SigningChain(
                leaf: try Self.certificate(.receiptLeaf, in: folder),
                intermediate: try Self.certificate(.receiptIntermediate, in: folder),
                root: try Self.certificate(.receiptRoot, in: folder)),
            receiptKey: try Self.read(.receiptKey, in: folder, Certificate.PrivateKey.init(pemEncoded:)),
            signedDataChain: SigningChain(
                leaf: try Self.certificate(.signedDataLeaf, in: folder),
                intermediate: try Self.certificate(.signedDataIntermediate, in: folder),
                root: try Self.certificate(.signedDataRoot, in: folder)),
            signedDataKey: try Self.read(.signedDataKey, in: folder, P256.Signing.PrivateKey.init(pemRepresentation:)))
    }

    /// Writes the authority to a folder that does not exist yet or is empty, its keys readable by their owner only.
    ///
    /// - Returns: False, with nothing written, if the folder holds something already.
    /// - Throws: ``AuthorityError/unwritable(folder:)``.
    public func save(in folder: URL) throws(AuthorityError) -> Bool {
        let draft = folder.deletingLastPathComponent().appending(path: ".\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: draft, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for file in File.allCases {
                let path = draft.appending(path: file.rawValue).path
                let attributes = [FileAttributeKey.posixPermissions: file.isSecret ? 0o600 : 0o644]
                let text = try text(of: file)
                guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes)
                else { throw AuthorityError.unwritable(folder: folder.path) }
            }
        } catch {
            throw .unwritable(folder: folder.path)
        }
        // rename(2) is atomic and refuses a folder that is not empty; FileManager would refuse an empty one, too.
        guard rename(draft.path, folder.path) != 0 else { return true }
        let reason = errno
        try? FileManager.default.removeItem(at: draft)
        guard reason == ENOTEMPTY || reason == EEXIST else { throw .unwritable(folder: folder.path) }
        return false
    }

    private func text(of file: File) throws -> String {
        switch file {
        case .serverRoot: try Self.pem(serverRoot)
        case .server: try Self.pem(server)
        case .serverKey: try serverKey.serializeAsPEM().pemString + "\n"
        case .receiptRoot: try Self.pem(receiptChain.root)
        case .receiptIntermediate: try Self.pem(receiptChain.intermediate)
        case .receiptLeaf: try Self.pem(receiptChain.leaf)
        case .receiptKey: try receiptKey.serializeAsPEM().pemString + "\n"
        case .signedDataRoot: try Self.pem(signedDataChain.root)
        case .signedDataIntermediate: try Self.pem(signedDataChain.intermediate)
        case .signedDataLeaf: try Self.pem(signedDataChain.leaf)
        case .signedDataKey: signedDataKey.pemRepresentation + "\n"
        }
    }

    private static func certificate(_ file: File, in folder: URL) throws(AuthorityError) -> Certificate {
        try read(file, in: folder, Certificate.init(pemEncoded:))
    }

    private static func read<Value>(
        _ file: File, in folder: URL, _ value: (String) throws -> Value
    ) throws(AuthorityError) -> Value {
        do {
            return try value(String(contentsOfFile: file.path(in: folder), encoding: .utf8))
        } catch {
            throw .unreadable(file: file.rawValue)
        }
    }
}

extension SimulatorAuthority.File {
    fileprivate func path(in folder: URL) -> String { folder.appending(path: rawValue).path }
}
