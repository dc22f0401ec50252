/// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
public struct HMACSHA256: Sendable {
    /// Bytes of one block of SHA-256.
    private static let blockCount = 64

    private let inner: SHA256Prefix
    private let outer: SHA256Prefix

    /// - Parameter key: Any number of bytes; one of more than a block is digested first.
    public init(key: some Collection<UInt8>) {
        var block = key.count > Self.blockCount ? SHA256.hash(key).bytes : Array(key)
        block += [UInt8](repeating: 0, count: Self.blockCount - block.count)
        inner = SHA256Prefix(block.map { $0 ^ 0x36 })
        outer = SHA256Prefix(block.map { $0 ^ 0x5C })
    }

    /// The code of a text, 32 bytes.
    public func code(of text: [UInt8]) -> SHA256Digest {
        outer.hash(followedBy: inner.hash(followedBy: text[...]).bytes[...])
    }
}
