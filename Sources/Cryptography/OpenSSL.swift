internal import CLibcrypto

/// OpenSSL's algorithms, each fetched once.
///
/// A function that names an algorithm (`SHA256()`, `EVP_sha256()`, `HMAC()`) makes OpenSSL search its providers at each
/// call. In 3.0 that takes eight shared locks, which slows many threads (openssl/openssl#17064, #20286). So operations
/// on messages take their algorithms from here. Reading a key or a certificate still searches, but only once for each.
package enum OpenSSL {
    /// Must come before everything else of OpenSSL's: its clean-up at exit races with threads that still run
    /// (openssl/openssl#6214). The process ends without it.
    private static let isInitialized = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Initialises OpenSSL, unless it is initialised. Where that is not possible every later call fails by itself.
    package static func begin() { _ = isInitialized }

    /// OpenSSL's word for memory that is out, `ERR_R_MALLOC_FAILURE`. The macro is an expression, which is not imported.
    static let outOfMemory: Int32 = 256 | 3 << 18

    /// Empties the thread's list of errors.
    /// - Returns: whether memory was out.
    static func takeErrors() -> Bool {
        var isOutOfMemory = false
        while case let error = ERR_get_error(), error != 0 {
            if ERR_GET_REASON(error) == outOfMemory { isOutOfMemory = true }
        }
        return isOutOfMemory
    }

    static let sha256 = Fetched("SHA2-256")
    static let sha1 = Fetched("SHA1")

    /// An algorithm.
    ///
    /// `@unchecked Sendable`: an `EVP_MD` is counted atomically, never changed once fetched, and never
    /// freed here.
    struct Fetched: @unchecked Sendable {
        let name: String
        private let fetched: OpaquePointer?

        init(_ name: String) {
            self.name = name
            fetched = isInitialized ? EVP_MD_fetch(nil, name, nil) : nil
            ERR_clear_error()
        }

        var isAvailable: Bool { fetched != nil }

        /// The algorithm. `CryptographicLibrary.check` has reported at the start if this host's OpenSSL lacks it.
        var pointer: OpaquePointer {
            guard let fetched else { preconditionFailure("OpenSSL offers no \(name)") }
            return fetched
        }
    }
}

public enum CryptographicLibrary {
    /// This host's OpenSSL lacks algorithms: an operator corrects `openssl.cnf`.
    public struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
        public let algorithms: [String]

        public var description: String { "OpenSSL does not offer \(algorithms.joined(separator: ", ")) here" }
    }

    /// Fetches every algorithm.
    ///
    /// Call it at the start, before anything else of this module. `openssl.cnf` may remove the providers, and no digest
    /// can be computed without its algorithm. Call it also before other libraries that use OpenSSL, such as libcurl.
    /// Only the first caller can prevent its clean-up at exit, when threads still run.
    /// - Throws: `Unusable` with the algorithms that are missing.
    public static func check() throws(Unusable) {
        let missing = [OpenSSL.sha256, OpenSSL.sha1].filter { !$0.isAvailable }
        guard missing.isEmpty else { throw Unusable(algorithms: missing.map(\.name)) }
    }
}

/// Lends a text to OpenSSL as a source of bytes; nil if memory is out, or the result is.
func withMemoryBIO<Result>(_ text: String, _ body: (OpaquePointer) -> Result?) -> Result? {
    OpenSSL.begin()
    var text = text
    return text.withUTF8 { bytes in
        guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// The contents of a text's PEM blocks, in their order (RFC 7468); nil if one is damaged, locked with a password, or
/// has another label. Text around the blocks is passed over.
func pemBlocks(_ label: String, in text: String) -> [[UInt8]]? {
    let begin = Array("-----BEGIN ".utf8)
    let bytes = Array(text.utf8)
    let expected = bytes.indices.count { bytes[$0...].starts(with: begin) }
    let blocks = withMemoryBIO(text) { bio in
        var blocks: [[UInt8]] = []
        while let block = nextBlock(bio) {
            guard block.label == label, block.isPlain else { return nil as [[UInt8]]? }
            blocks.append(block.content)
        }
        return blocks
    }
    ERR_clear_error()
    return blocks?.count == expected ? blocks : nil
}

private func nextBlock(_ bio: OpaquePointer) -> (label: String, isPlain: Bool, content: [UInt8])? {
    var label: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard PEM_read_bio(bio, &label, &header, &data, &count) == 1, let label, let header, let data else { return nil }
    defer {
        CRYPTO_free(label, nil, 0)
        CRYPTO_free(header, nil, 0)
        CRYPTO_free(data, nil, 0)
    }
    return (String(cString: label), header[0] == 0, Array(UnsafeBufferPointer(start: data, count: count)))
}

/// Answers for a password that there is none: OpenSSL would ask at the terminal.
let refusePassword: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
    _, _, _, _ in -1
}
