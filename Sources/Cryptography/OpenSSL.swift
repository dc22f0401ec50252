internal import CLibcrypto

/// OpenSSL's algorithms, each fetched once.
///
/// A function that names an algorithm anew (`SHA256()`, `EVP_sha256()`, `HMAC()`) makes OpenSSL search its providers:
/// eight shared locks a call in 3.0, which many threads feel (openssl/openssl#17064, #20286). So what
/// a message needs takes its algorithm from here. Reading a key or a certificate still searches: that happens once for
/// each of them.
package enum OpenSSL {
    /// Must come before everything else of OpenSSL's: its clean-up at exit races with threads that still run
    /// (openssl/openssl#6214). The process ends without it.
    private static let isInitialized = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Initialises OpenSSL, unless it is initialised. Where that is not possible every later call fails by itself.
    package static func begin() {
        _ = isInitialized
    }

    static let sha256 = FetchedDigest("SHA2-256")
    static let sha1 = FetchedDigest("SHA1")
    static let hmac = FetchedMAC("HMAC")

    /// A digest algorithm.
    ///
    /// `@unchecked Sendable`: an `EVP_MD` is counted atomically, never changed once fetched, and never freed here.
    struct FetchedDigest: @unchecked Sendable {
        let name: StaticString
        private let fetched: OpaquePointer?

        init(_ name: StaticString) {
            self.name = name
            fetched = isInitialized ? EVP_MD_fetch(nil, name.description, nil) : nil
            ERR_clear_error()
        }

        var isAvailable: Bool { fetched != nil }

        /// The algorithm. `CryptographicLibrary.check` has told at the start if this host's OpenSSL lacks it.
        var pointer: OpaquePointer {
            guard let fetched else { preconditionFailure("OpenSSL offers no \(name)") }
            return fetched
        }
    }

    /// An algorithm for authentication codes.
    ///
    /// `@unchecked Sendable`: an `EVP_MAC` is counted atomically, never changed once fetched, and never freed here.
    struct FetchedMAC: @unchecked Sendable {
        let name: StaticString
        private let fetched: OpaquePointer?

        init(_ name: StaticString) {
            self.name = name
            fetched = isInitialized ? EVP_MAC_fetch(nil, name.description, nil) : nil
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
