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

        /// The algorithm. `CryptographicLibrary.check` has told at the start if this host's OpenSSL lacks it.
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
