import AppStore
import CertificateMaking
import CommandParser
import Contract
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

    @Test("A record that breaks the contract gets the verdict that a worker has for it")
    func malformed() throws {
        try write("{\"submissionId\": \"s-1\", \"userId\": \"u-1\", \"bundleId\": \"\"}", to: "evidence")
        let result = grantor("verify \(grantor.folder)/evidence")
        #expect(result.status == .failed && result.errors.isEmpty)
        #expect(result.output.contains("\"reason\" : \"malformed_submission\""))
        #expect(result.output.contains("bundleId is missing."))
    }

    @Test(
        "A whole submission of another app than the named one is refused, because the verdict would be by other rules")
    func anotherApp() throws {
        for receipt in ["\"AAAA\"", "7"] {
            try write(
                "{\"submissionId\":\"s-1\",\"userId\":\"u-1\",\"bundleId\":\"com.example.game\",\"receipt\":\(receipt)}",
                to: "evidence")
            let result = grantor("verify \(grantor.folder)/evidence --app com.example.puzzle")
            #expect(result.status == .usage && result.output.isEmpty)
            #expect(
                result.errors.hasPrefix(
                    "grantor: the submission is of com.example.game, and --app names com.example.puzzle\n"))
            let own = grantor("verify \(grantor.folder)/evidence --app com.example.game")
            #expect(own.status == .failed && own == grantor("verify \(grantor.folder)/evidence"))
        }
    }

    @Test("A record that is no submission is said to be quarantined, with the reason")
    func quarantined() throws {
        try write("{\"userId\": \"u-1\"}", to: "evidence")
        let result = grantor("verify \(grantor.folder)/evidence")
        #expect(result.status == .failed && result.output.isEmpty)
        #expect(
            result.errors
                == "grantor: a worker would quarantine it, because it is no submission: submissionId is missing or empty\n"
        )
    }

    @Test("A submission is verified alike with and without a byte order mark in front")
    func byteOrderMark() throws {
        let text = """
            {"submissionId":"s-1","userId":"u-1","bundleId":"com.example.game","receipt":"AAAA","environment":"Prod"}
            """
        let results = try ["", "\u{FEFF}"].map { mark in
            try write(mark + text, to: "evidence")
            return grantor("verify \(grantor.folder)/evidence")
        }
        #expect(results[0] == results[1] && results[0].output.contains("\"reason\" : \"receipt_malformed\""))
    }
}
