internal import CLibcrypto

/// A digest under way.
///
/// Owns its `EVP_MD_CTX` and frees it once, at the end of its life.
struct DigestContext: ~Copyable {
    private let context: OpaquePointer

    init(_ algorithm: OpenSSL.FetchedDigest) {
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
        _ bytes: UnsafeRawBufferPointer, _ algorithm: OpenSSL.FetchedDigest, into digest: UnsafeMutableRawBufferPointer
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
