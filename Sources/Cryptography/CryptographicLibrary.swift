internal import CLibcrypto

/// The OpenSSL of this host.
public enum CryptographicLibrary {
    /// Such as `OpenSSL 3.0.22 25 Aug 2026`.
    public static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// This host's OpenSSL lacks algorithms, or gets them wrong.
    public struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
        /// Such as `SHA2-256`.
        public let algorithms: [String]

        public var description: String {
            "OpenSSL does not offer \(algorithms.joined(separator: ", ")) here, or computes something else."
        }
    }

    /// Fetches every algorithm and lets each prove itself once.
    ///
    /// To be called at a start, before anything else of this module: `openssl.cnf` may have taken the providers away, and
    /// a digest cannot be computed without its algorithm. Also before other libraries that use OpenSSL, such as libcurl:
    /// only the first caller can keep it from cleaning up at exit, when threads still run.
    ///
    /// - Throws: `Unusable` with the algorithms that failed.
    public static func check() throws(Unusable) {
        OpenSSL.begin()
        var failed: [String] = []
        for digest in [OpenSSL.sha256, OpenSSL.sha1] where !digest.isAvailable {
            failed.append(digest.name.description)
        }
        if !OpenSSL.hmac.isAvailable { failed.append(OpenSSL.hmac.name.description) }
        guard failed.isEmpty else { throw Unusable(algorithms: failed) }
        if SHA256.hash("abc".utf8).hex != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
            failed.append(OpenSSL.sha256.name.description)
        }
        if SHA1.hash("abc".utf8).hex != "a9993e364706816aba3e25717850c26c9cd0d89d" {
            failed.append(OpenSSL.sha1.name.description)
        }
        // RFC 4231, section 4.3.
        let code = HMACKey("Jefe".utf8)?.authenticationCode(for: "what do ya want for nothing?".utf8).hex
        if code != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
            failed.append(OpenSSL.hmac.name.description)
        }
        if !KnownSignatures.es256Works { failed.append("ECDSA on P-256") }
        if !KnownSignatures.rsaWorks { failed.append("RSA") }
        guard failed.isEmpty else { throw Unusable(algorithms: failed) }
    }
}
