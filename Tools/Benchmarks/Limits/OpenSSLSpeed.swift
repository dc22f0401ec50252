import Glibc

/// The price of a P-256 verification by the distribution's OpenSSL.
enum OpenSSLSpeed {
    /// Microseconds of a verification, measured for three seconds by `openssl speed`.
    static func verification() throws(BenchFailure) -> Double {
        guard let output = popen("openssl speed -seconds 3 ecdsap256 2>/dev/null", "r") else {
            throw BenchFailure("cannot start openssl")
        }
        defer { pclose(output) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, output) != nil {}
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The last line ends with signatures and verifications a second.
        guard let rate = text.split(whereSeparator: \.isWhitespace).last.flatMap({ Double($0) }), rate > 0 else {
            throw BenchFailure("openssl speed says nothing: is openssl installed?")
        }
        return 1_000_000 / rate
    }
}
