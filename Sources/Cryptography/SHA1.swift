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

    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
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
