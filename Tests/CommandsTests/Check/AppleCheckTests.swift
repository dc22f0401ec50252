import AppStore
import Configuration
import Contract
import Foundation
import Testing

@testable import Commands

@Suite("Checking an app's key")
struct AppleCheckTests {
    /// Apple's answer to a question about a transaction that nobody has, from somebody with the right key.
    private static let notFound = AppStoreReply.response(
        httpStatus: 404, retryAfter: nil,
        body: Array(#"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#.utf8))
    private static let unauthorized = AppStoreReply.response(httpStatus: 401, retryAfter: nil, body: [])

    private func result(_ production: AppStoreReply, _ sandbox: AppStoreReply? = nil) throws -> [String] {
        let grantor = try SampleRun()
        try SampleKey.pem.write(toFile: grantor.folder + "/key.p8", atomically: true, encoding: .utf8)
        try """
        apps:
          - bundleId: com.example.game
            sandbox: {policy: reject}
            products: any
            receipts: local
            serverAPI: {issuerId: i, keyId: k, privateKeyFile: key.p8}
        """.write(toFile: grantor.folder + "/apps.yaml", atomically: true, encoding: .utf8)
        var apple = FixedApple()
        (apple.answer, apple.sandboxAnswer) = (production, sandbox)
        let apps = try ConfiguredApps(file: grantor.folder + "/apps.yaml")
        return AppleCheck(apple: apple, now: { FixedLedger.time }).results(apps).map { "\($0.outcome): \($0.detail)" }
    }

    @Test("A key is proven by an answer that only its owner gets")
    func proof() throws {
        #expect(try result(Self.notFound) == ["good: key accepted by production"])
        #expect(
            try result(Self.unauthorized, Self.notFound)
                == ["good: key accepted by the sandbox; production refuses unreleased apps"])
        #expect(
            try result(Self.unauthorized, Self.unauthorized)
                == ["failed: refused (HTTP 401): issuer, key id, key or bundle id is wrong"])
    }

    @Test("Any other answer proves nothing")
    func otherAnswers() throws {
        #expect(
            try result(.response(httpStatus: 502, retryAfter: nil, body: []))
                == ["failed: production answers with HTTP 502, without an error of Apple's"])
        #expect(try result(.failed(.unreachable)) == ["failed: production: no answer: the host cannot be reached"])
    }
}
