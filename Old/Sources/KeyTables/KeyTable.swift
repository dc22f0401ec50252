internal import CLibcrypto
import Synchronization

/// Multiples of one P-256 public key, computed beforehand, with which its signatures are checked in less than half of the
/// time: of the two multiplications that a check consists of, the one by the key becomes as cheap as the one by the
/// curve's base point, which every library has such a table for.
///
/// Worth it for a key that thousands of signatures are checked with: a table takes some 15 ms of CPU and 150 KB. The
/// arithmetic of points is OpenSSL's and that of numbers GMP's; here is the equation of FIPS 186-5, section 6.4.2, and
/// nothing else. Nothing here is secret, so nothing needs to take equally long for all values.
///
/// May be used from all cores at once.
public final class KeyTable: Sendable {
    /// What a check came to.
    public enum Answer: Hashable, Sendable {
        case holds
        case doesNotHold
        /// A library had no memory, or lacks something: ask another one.
        case unknown
    }

    /// Bytes of the key: uncompressed, without the leading 4 (SEC 1, section 2.3.3).
    public static let keyBytes = 64
    /// Bytes of a signature: `r` and `s` (RFC 7518, section 3.4).
    public static let signatureBytes = 64
    /// Bytes of what is signed: a SHA-256 digest.
    public static let digestBytes = 32

    private let table: MultiplicationTable
    /// What checks work in, kept for the next ones. As many as checks ran at once, so at most one for each core.
    private let workspaces = Mutex<[Workspace]>([])

    /// Computes the table, which takes milliseconds.
    ///
    /// - Parameter key: ``keyBytes`` bytes.
    /// - Returns: nil if they are no point of the curve, or OpenSSL cannot make a table.
    public init?(key: some Sequence<UInt8>) {
        guard let table = MultiplicationTable(key: Array(key)) else { return nil }
        self.table = table
    }

    /// Whether the key made the signature over the digest.
    ///
    /// - Parameters:
    ///   - signature: ``signatureBytes`` bytes; others are no signature.
    ///   - digest: ``digestBytes`` bytes; others are no digest.
    public func check(_ signature: [UInt8], of digest: [UInt8]) -> Answer {
        guard signature.count == Self.signatureBytes, digest.count == Self.digestBytes else { return .doesNotHold }
        guard let workspace = workspaces.withLock({ $0.popLast() }) ?? Workspace() else { return .unknown }
        defer { workspaces.withLock { $0.append(workspace) } }
        return workspace.check(signature, of: digest, with: table)
    }
}
