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

    public func withUnsafeBytes<Result, Thrown: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
    ) throws(Thrown) -> Result {
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

/// SHA-1 (FIPS 180-4), for what names it: version-5 UUIDs (RFC 9562, section 5.5) and receipts that Apple signed
/// before 2025. It proves nothing by itself.
public struct SHA1: ~Copyable {
    private var context: DigestContext

    public init() {
        context = DigestContext(OpenSSL.sha1)
    }

    /// Adds bytes behind those that were added before.
    public mutating func update(_ bytes: some Collection<UInt8>) {
        withContiguousBytes(of: bytes) { context.update($0) }
    }

    public consuming func finish() -> SHA1Digest {
        SHA1Digest { context.finish(into: $0) }
    }

    public static func hash(_ bytes: some Collection<UInt8>) -> SHA1Digest {
        withContiguousBytes(of: bytes) { bytes in
            SHA1Digest { DigestContext.digest(bytes, OpenSSL.sha1, into: $0) }
        }
    }
}

/// The 20 bytes of a SHA-1 digest, without memory of their own.
public struct SHA1Digest: Hashable, Sendable {
    public static let byteCount = 20

    private var words: (UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0)

    init(_ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeMutableBytes(of: &words, fill)
    }

    public func withUnsafeBytes<Result, Thrown: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
    ) throws(Thrown) -> Result {
        try withContiguousBytes(ofValue: words, body)
    }

    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// 40 lowercase digits.
    public var hex: String { withUnsafeBytes(hexadecimal) }

    public static func == (left: Self, right: Self) -> Bool {
        left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// A digest under way.
///
/// Owns its `EVP_MD_CTX` and frees it once, at the end of its life.
struct DigestContext: ~Copyable {
    private let context: OpaquePointer

    init(_ algorithm: OpenSSL.Fetched) {
        context = Self.make()
        Self.require(EVP_DigestInit_ex2(context, algorithm.pointer, nil))
    }

    private init(context: OpaquePointer) {
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    func copy() -> DigestContext {
        let other = Self.make()
        Self.require(EVP_MD_CTX_copy_ex(other, context))
        return DigestContext(context: other)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        Self.require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// - Parameter digest: As many bytes as the algorithm gives.
    mutating func finish(into digest: UnsafeMutableRawBufferPointer) {
        Self.require(EVP_DigestFinal_ex(context, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil))
    }

    /// Digests one piece without a context of its own.
    static func digest(
        _ bytes: UnsafeRawBufferPointer, _ algorithm: OpenSSL.Fetched, into digest: UnsafeMutableRawBufferPointer
    ) {
        let output = digest.baseAddress?.assumingMemoryBound(to: UInt8.self)
        require(EVP_Digest(bytes.baseAddress, bytes.count, output, nil, algorithm.pointer, nil))
    }

    private static func make() -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        return context
    }

    /// A digest of a fetched algorithm fails only if memory is out.
    private static func require(_ result: Int32) {
        precondition(result == 1, "OpenSSL could not compute a digest")
    }
}

/// Lends the bytes of a collection; copies them only if they do not lie together.
func withContiguousBytes<Result>(
    of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
    if let result = bytes.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(bytes).withUnsafeBytes(body)
}

/// Lends the bytes of a value that holds nothing but its bytes.
func withContiguousBytes<Value: BitwiseCopyable, Result, Thrown: Error>(
    ofValue value: Value, _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
) throws(Thrown) -> Result {
    try withUnsafePointer(to: value) { pointer throws(Thrown) in
        try body(UnsafeRawBufferPointer(start: pointer, count: MemoryLayout<Value>.size))
    }
}

/// Two lowercase digits a byte.
func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
        for (index, byte) in bytes.enumerated() {
            digits[2 * index] = hexadecimalDigit(byte >> 4)
            digits[2 * index + 1] = hexadecimalDigit(byte & 15)
        }
        return bytes.count * 2
    }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
