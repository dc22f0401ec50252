internal import CLibcrypto
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
    /// Freed once, at the end of its life.
    private let context: OpaquePointer

    public init() {
        context = Self.makeContext()
        require(EVP_DigestInit_ex2(context, OpenSSL.sha256.pointer, nil))
    }

    private init(continuing other: borrowing SHA256) {
        context = Self.makeContext()
        require(EVP_MD_CTX_copy_ex(context, other.context))
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Digests further bytes, behind those of before.
    public mutating func update(_ bytes: some Collection<UInt8>) {
        withContiguousBytes(of: bytes) { bytes in
            if !bytes.isEmpty { require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)) }
        }
    }

    /// A copy that goes on from here, so that a known beginning is digested once.
    public func copy() -> SHA256 { SHA256(continuing: self) }

    /// The digest of all bytes so far; nothing can be added afterwards.
    public consuming func finish() -> SHA256Digest {
        SHA256Digest { require(EVP_DigestFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)) }
    }

    /// The digest of bytes that are all there, however many.
    public static func hash(_ bytes: some Collection<UInt8>) -> SHA256Digest {
        SHA256Digest { digest(bytes, OpenSSL.sha256, into: $0) }
    }

    private static func makeContext() -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        return context
    }
}

/// The 32 bytes of a SHA-256 digest, without memory of their own.
public struct SHA256Digest: Hashable, Comparable, Sendable {
    public static let byteCount = 32

    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(_ fill: (UnsafeMutableRawBufferPointer) -> Void) { withUnsafeMutableBytes(of: &words, fill) }

    /// A digest that was computed before, for example read from a database; nil unless these are 32 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init { $0.copyBytes(from: bytes) }
    }

    /// A digest of the digits of ``hex``; nil for any other text, also with capitals.
    public init?(hex digits: some Collection<UInt8>) {
        let values = digits.compactMap(Hexadecimal.value(ofLowerCase:))
        guard values.count == digits.count, digits.count == 2 * Self.byteCount else { return nil }
        self.init(bytes: stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] })
    }

    /// Lends the 32 bytes until the closure returns.
    public func withUnsafeBytes<Result, Thrown: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
    ) throws(Thrown) -> Result {
        try withUnsafePointer(to: words) { pointer throws(Thrown) in
            try body(UnsafeRawBufferPointer(start: pointer, count: Self.byteCount))
        }
    }

    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// By bytes, as databases order them.
    public static func < (first: Self, second: Self) -> Bool {
        first.withUnsafeBytes { first in second.withUnsafeBytes { first.lexicographicallyPrecedes($0) } }
    }

    /// 64 lowercase digits.
    public var hex: String { Hexadecimal.text(of: bytes) }

    public static func == (left: Self, right: Self) -> Bool { left.words == right.words }
    public func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
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
    public func hash(followedBy rest: ArraySlice<UInt8>) -> SHA256Digest {
        var digest = lock.withLock { _ in beginning.copy() }
        digest.update(rest)
        return digest.finish()
    }
}

/// SHA-1 (FIPS 180-4), where a format prescribes it: version-5 UUIDs (RFC 9562, section 5.5) and receipts that Apple
/// signed before 2025. It proves nothing by itself.
public enum SHA1 {
    /// The 20 bytes of a digest.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
            digest(bytes, OpenSSL.sha1, into: UnsafeMutableRawBufferPointer(buffer))
            count = 20
        }
    }
}

/// Digests one piece without a context of its own.
private func digest(
    _ bytes: some Collection<UInt8>, _ algorithm: OpenSSL.Fetched, into digest: UnsafeMutableRawBufferPointer
) {
    withContiguousBytes(of: bytes) { bytes in
        let output = digest.baseAddress?.assumingMemoryBound(to: UInt8.self)
        require(EVP_Digest(bytes.baseAddress, bytes.count, output, nil, algorithm.pointer, nil))
    }
}

/// A digest of a fetched algorithm fails only if memory is out.
private func require(_ result: Int32) { precondition(result == 1, "OpenSSL could not compute a digest") }

/// Lends the bytes of a collection; copies them only if they do not lie together.
func withContiguousBytes<Result>(
    of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
    if let result = bytes.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(bytes).withUnsafeBytes(body)
}
