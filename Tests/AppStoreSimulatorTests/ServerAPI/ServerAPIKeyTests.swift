import Cryptography
import Foundation
import Testing

@testable import AppStoreSimulator

struct ServerAPIKeyTests {
    @Test("The file is PKCS #8, for its owner only")
    func file() throws {
        try withTemporaryFolder { folder in
            let key = try ServerAPIKey()
            let file = folder.appending(path: "AuthKey.p8")
            try key.save(to: file.path)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            #expect(text.hasSuffix("-----END PRIVATE KEY-----\n"))
            let read = try PrivateKey(p256PEM: text)
            #expect(read == key.privateKey)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("A file that is there stays")
    func existingFile() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "AuthKey.p8")
            try Data("mine".utf8).write(to: file)
            #expect(throws: SimulatorError.unwritable(file: file.path)) { try ServerAPIKey().save(to: file.path) }
            #expect(try Data(contentsOf: file) == Data("mine".utf8))
        }
    }

    @Test("Names have Apple's forms")
    func names() throws {
        let key = try ServerAPIKey()
        let other = try ServerAPIKey()
        #expect(UUID(uuidString: key.issuerID) != nil)
        #expect(key.keyID.count == 10)
        #expect(key.keyID != other.keyID)
    }

    @Test("OpenSSL reads the key")
    func openSSL() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "AuthKey.p8")
            try ServerAPIKey().save(to: file.path)
            let result = try openssl("pkey", "-in", file.path, "-noout", "-text_pub")
            #expect(result.status == 0)
            #expect(result.output.contains("prime256v1"))
        }
    }
}
