import AppStore
import CommandParser
import Foundation
import Testing

@testable import Commands

@Suite("Verifying one piece of evidence")
struct VerifyCommandTests {
    private let grantor: SampleRun

    init() throws {
        grantor = try SampleRun()
        try write(
            """
            apps:
              - {bundleId: com.example.game, sandbox: {policy: reject}, products: any}
              - {bundleId: com.example.puzzle, sandbox: {policy: reject}, products: any}
            """, to: "apps.yaml")
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: grantor.folder + "/" + name, atomically: true, encoding: .utf8)
    }

    @Test("Evidence that is none is rejected with the check that it failed, and Apple is not asked")
    func rejected() throws {
        try write("no receipt", to: "evidence")
        let result = grantor("verify \(grantor.folder)/evidence --app com.example.game")
        #expect(result.status == .failed && result.errors.isEmpty)
        #expect(result.output.contains("\"reason\" : \"receipt_malformed\""))
        #expect(
            result.output.contains("\"outcome\" : \"failed\"") && result.output.contains("\"outcome\" : \"skipped\""))
        #expect(grantor.apple.asked.all.isEmpty)
    }

    @Test("An id is held where the app has no key to look it up")
    func held() throws {
        try write("2000000123456789\n", to: "evidence")
        let result = grantor("verify \(grantor.folder)/evidence --app com.example.game")
        #expect(result.status == .failed)
        #expect(result.output.contains("\"verdict\" : \"hold\""))
        #expect(result.output.contains("\"reason\" : \"credentials_missing\""))
    }

    @Test("Bare evidence needs an app where there are several")
    func app() throws {
        try write("2000000123456789\n", to: "evidence")
        let result = grantor("verify \(grantor.folder)/evidence")
        #expect(result.status == .usage)
        #expect(result.errors.hasPrefix("grantor: several apps are configured; say which with --app\n"))
    }

    @Test("A looked-up transaction is asked for with the app's key, and the calls are told")
    func lookedUp() throws {
        try write(SampleKey.pem, to: "key.p8")
        try write(
            """
            apps:
              - bundleId: com.example.game
                sandbox: {policy: reject}
                products: any
                serverAPI: {issuerId: i, keyId: k, privateKeyFile: key.p8}
            """, to: "apps.yaml")
        try write("2000000123456789\n", to: "evidence")
        var grantor = grantor
        grantor.apple.answer = .response(httpStatus: 502, retryAfter: nil, body: Array("<html>".utf8))
        let result = grantor("verify \(grantor.folder)/evidence")
        #expect(result.status == .failed)
        #expect(
            result.output.contains("\"verdict\" : \"retry\"") && result.output.contains("\"reason\" : \"no_answer\""))
        #expect(result.output.contains("\"answer\" : \"HTTP 502, a body of HTML or XML\""))
        #expect(result.output.contains("\"request\" : \"GET /inApps/"))
        #expect(grantor.apple.asked.all.count >= 1)
    }
}
