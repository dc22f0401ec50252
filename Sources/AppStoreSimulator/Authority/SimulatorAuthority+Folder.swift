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

        var isSecret: Bool { self == .serverKey || self == .receiptKey }
    }

    /// The authority kept in a folder; if there is none yet, a new one that is kept there from now on.
    ///
    /// Processes that start together on one folder end up with the same authority: the folder appears whole or not at
    /// all, and whoever comes second reads the first one's.
    /// - Throws: ``AuthorityError``.
    public static func kept(
        in folder: URL, receipts: ReceiptAlgorithm = .ecdsa, now: Date
    ) throws(AuthorityError) -> SimulatorAuthority {
        if !FileManager.default.fileExists(atPath: folder.appending(path: File.serverRoot.rawValue).path) {
            let new = try SimulatorAuthority(receipts: receipts, now: now)
            if try new.save(in: folder) { return new }
        }
        return try SimulatorAuthority(folder: folder)
    }

    /// Reads an authority that ``save(in:)`` wrote.
    /// - Throws: ``AuthorityError/unreadable(file:)`` for the first file that is missing or is not what its name says.
    public init(folder: URL) throws(AuthorityError) {
        let chain = ReceiptChain(
            leaf: try Self.certificate(.receiptLeaf, in: folder),
            intermediate: try Self.certificate(.receiptIntermediate, in: folder),
            root: try Self.certificate(.receiptRoot, in: folder))
        self.init(
            serverRoot: try Self.certificate(.serverRoot, in: folder),
            server: try Self.certificate(.server, in: folder), serverKey: try Self.key(.serverKey, in: folder),
            receiptChain: chain, receiptKey: try Self.key(.receiptKey, in: folder))
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
        }
    }

    private static func certificate(_ file: File, in folder: URL) throws(AuthorityError) -> Certificate {
        do {
            return try Certificate(
                pemEncoded: String(contentsOf: folder.appending(path: file.rawValue), encoding: .utf8))
        } catch {
            throw .unreadable(file: file.rawValue)
        }
    }

    private static func key(_ file: File, in folder: URL) throws(AuthorityError) -> Certificate.PrivateKey {
        do {
            return try Certificate.PrivateKey(
                pemEncoded: String(contentsOf: folder.appending(path: file.rawValue), encoding: .utf8))
        } catch {
            throw .unreadable(file: file.rawValue)
        }
    }
}
