/// Signatures that are known to hold, with which `CryptographicLibrary.check` tries OpenSSL.
enum KnownSignatures {
    /// Whether the signature of RFC 7515, appendix A.3, holds, and does not once a bit of it is changed.
    static var es256Works: Bool {
        guard let key = PublicKey(p256Point: es256Point) else { return false }
        return works(es256Signature) { key.isValidES256Signature($0, of: SHA256.hash(es256Text.utf8)) }
    }

    /// Whether a signature made by `openssl dgst -sha256 -sign` over `abc` holds, and does not once a bit is changed.
    static var rsaWorks: Bool {
        guard let key = PublicKey(pem: rsaKey) else { return false }
        return works(rsaSignature) { key.isValidRSASignature($0, of: .sha256(SHA256.hash("abc".utf8))) }
    }

    private static func works(_ signature: [UInt8], _ isValid: ([UInt8]) -> Bool) -> Bool {
        var damaged = signature
        damaged[damaged.count / 2] ^= 1
        return isValid(signature) && !isValid(damaged)
    }

    private static let es256Text =
        "eyJhbGciOiJFUzI1NiJ9."
        + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static let es256Point = bytes(
        """
        047fcdce2770f6c45d4183cbee6fdb4b7b580733357be9ef13bacf6e3c7bd15445c7f144cd1bbd9b7e872cdfedb9eeb9
        f4b3695d6ea90b24ad8a4623288588e5ad
        """)

    private static let es256Signature = bytes(
        """
        0ed1215379636c483c2f7f155807d402a3b228033af97c7e17819ac3169ea665c50a07d38c3c70e5d8f12daf084a5480
        a66590c5f293509a8f3f7f8a83a354d5
        """)

    private static let rsaSignature = bytes(
        """
        8e5d4738940f013f0273ed619efb1c1987e2efbe81b22f219fc21e26076dc16dc658600023728aa08cff8a5f421667d4
        89008a843570351063ddc8d39f5ef5702cd8a0266e66f81952479b9245f0b3e3b49136631ed7e95eee4493d659bc8f36
        3a7a36c5cad69088316a819ee9fe778c7fddf067043cf9d14a5450fa16a85003754fd95a43d28b579729cc32945022cf
        c96115c6e8c0edc4371d9bf74fce6a80c395239cea3bacaaf48ae5ab809cf4eb13af22f7fd33a7a625a71feb71ec536a
        23ee71af129aeb64cfe8917ef9b73bae5aea09efbf4230e051530b4d9e9c55180ced43a68e2968c8474361958082e2b1
        ce68052b27ee567c516f3ebaff5b393a
        """)

    private static let rsaKey = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmD2tJ4Vlj30HaRn2/LlI
        8ud1m0f+NtDQcjRuVWWrIQ+YMW0yV+zhIzGjzw4GlCXiK+rykwiUc7GFBkUzGD9C
        MmJcdSu849R1aJBEpsypMOkifDLHyhhgEClRp+uAPYjn5UY869oKWKXme7dWiLxu
        M6+wD2lqrNJW7VGbXVGioLjn6ecufbcdZ8Ikj0EmiguR3b5vv30bUusBPclG91RZ
        r0RBN5JvJpBsYQ8cRsMs2LkKAzeG/kZbtsFBJ8jtV9QzuYDkhSpBKu4IQORjA09d
        U8E4Q2JFQlLDugrMsstKwNKTzaGkqAYatnoLOZBf0rfmp2i/qcGA9xuLZkBymtY8
        RQIDAQAB
        -----END PUBLIC KEY-----
        """

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
