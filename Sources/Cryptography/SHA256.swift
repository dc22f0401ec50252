internal import Synchronization

/// SHA-256 (FIPS 180-4), in one piece or in several.
///
///     let digest = SHA256.hash("abc".utf8)
///
///     var hash = SHA256()
///     hash.update(header)
///     hash.update(payload)
///     let same = hash.finish()
public struct SHA256: ~Copyable {
    private var context: DigestContext

    public init() {
        context = DigestContext(OpenSSL.sha256)
    }

    private init(context: consuming DigestContext) {
        self.context = context
    }

    /// Adds bytes behind those that were added before.
    public mutating func update(_ bytes: some Collection<UInt8>) {
        withContiguousBytes(of: bytes) { context.update($0) }
    }

    /// Another digest that goes on from here, so that a known beginning is digested once.
    public func copy() -> SHA256 {
        SHA256(context: context.copy())
    }

    public consuming func finish() -> SHA256Digest {
        SHA256Digest { context.finish(into: $0) }
    }

    public static func hash(_ bytes: some Collection<UInt8>) -> SHA256Digest {
        withContiguousBytes(of: bytes) { bytes in
            SHA256Digest { DigestContext.digest(bytes, OpenSSL.sha256, into: $0) }
        }
    }
}

/// The 32 bytes of a SHA-256 digest, without memory of their own.
public struct SHA256Digest: Hashable, Sendable {
    public static let byteCount = 32

    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(_ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeMutableBytes(of: &words, fill)
    }

    /// A digest that was computed before, for example read from a database; nil unless these are 32 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init { $0.copyBytes(from: bytes) }
    }

    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withContiguousBytes(ofValue: words, body)
    }

    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// 64 lowercase digits.
    public var hex: String { withUnsafeBytes(hexadecimal) }

    public static func == (left: Self, right: Self) -> Bool {
        left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// A beginning that many texts have in common, digested once.
///
/// May be used by all threads at once.
///
/// `@unchecked Sendable`: the digest under way is only copied, under the lock.
public final class SHA256Prefix: @unchecked Sendable {
    private let beginning: SHA256
    private let lock = Mutex(())

    public init(_ beginning: some Collection<UInt8>) {
        var digest = SHA256()
        digest.update(beginning)
        self.beginning = digest
    }

    /// The digest of the beginning and what follows it.
    public func hash(followedBy rest: some Collection<UInt8>) -> SHA256Digest {
        var digest = lock.withLock { _ in beginning.copy() }
        digest.update(rest)
        return digest.finish()
    }
}
