import CLibcrypto
import CertificateMaking
import Testing

@testable import Cryptography

@Suite("The host's OpenSSL")
struct CryptographicLibraryTests {
    @Test("offers what is needed")
    func check() throws {
        try CryptographicLibrary.check()
    }

    @Test("a host whose configuration takes the providers away is found out at the start")
    func withoutProviders() async {
        await #expect(processExitsWith: .success) {
            EVP_set_default_properties(nil, "provider=none")
            #expect(throws: CryptographicLibrary.Unusable(algorithms: ["SHA2-256", "SHA1"])) {
                try CryptographicLibrary.check()
            }
        }
    }

    // Once no provider may be chosen, every search for an algorithm fails, but algorithms that were fetched before go
    // on to work. So what works then searches for nothing. Signing is not among them: OpenSSL searches for its source
    // of nonces.
    @Test("is not searched for algorithms on the way of a message")
    func noSearch() async {
        await #expect(processExitsWith: .success) {
            try CryptographicLibrary.check()
            let key = try PrivateKey.make(.p256)
            let rsa = try PrivateKey.make(.rsa(bits: 2048))
            let digest = SHA256.hash("message".utf8)
            let old = SHA1.hash("message".utf8)
            let signature = try #require(key.es256Signature(of: digest))
            let rsaSignature = try rsa.signature(of: .sha256(digest))
            let oldSignature = try rsa.signature(of: .sha1(old))

            EVP_set_default_properties(nil, "provider=none")
            #expect(EVP_MD_fetch(nil, "SHA2-256", nil) == nil)
            #expect(KeyContextPool(key: key.handle, .verify, digest: OpenSSL.sha256, usesRSA: false) == nil)
            #expect(throws: MakingFailed.self) { try PrivateKey.make(.p256) }

            #expect(SHA256.hash("message".utf8) == digest)
            #expect(SHA1.hash("message".utf8) == old)
            var running = SHA256()
            running.update("mess".utf8)
            let copy = running.copy()
            running.update("age".utf8)
            #expect(running.finish() == digest)
            #expect(copy.finish() == SHA256.hash("mess".utf8))
            for _ in 0..<3 {
                #expect(key.publicKey.isValidES256Signature(signature, of: digest))
                #expect(!key.publicKey.isValidES256Signature(signature, of: SHA256.hash("other".utf8)))
                #expect(rsa.publicKey.isValidRSASignature(rsaSignature, of: .sha256(digest)))
                #expect(rsa.publicKey.isValidRSASignature(oldSignature, of: .sha1(old)))
            }
        }
    }
}
