import AppStore
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
}

@Suite("Evidence that people hand over")
struct EvidenceInputTests {
    private func input(_ text: String) -> EvidenceInput { EvidenceInput(Array(text.utf8), now: FixedLedger.time) }

    @Test("Evidence is known by its form, without the white space around it")
    func forms() {
        #expect(input(" a.b.c\n") == .evidence(.signedTransaction("a.b.c")))
        #expect(input("\n2000000123456789\n") == .evidence(.transactionID("2000000123456789")))
        #expect(input("MIIT\r\nAAAA\n") == .evidence(.receipt(base64: "MIIT\r\nAAAA")))
        #expect(input("") == .evidence(.receipt(base64: "")))
    }

    @Test("JSON is a submission by the rules of the input topic, or says why not")
    func submissions() throws {
        let text = """
            {"submissionId": "s-1", "userId": "u-1", "bundleId": "com.example.game", "transactionId": "2000000123456789"}
            """
        guard case .submission(let submission) = input(text) else {
            Issue.record("not a submission")
            return
        }
        #expect(submission.id == "s-1" && submission.evidence == .transactionID("2000000123456789"))
        guard case .malformed = input("{\"submissionId\": \"s-1\", \"userId\": \"u-1\"}"), case .malformed = input("{")
        else {
            Issue.record("not malformed")
            return
        }
    }

    @Test("A file that cannot be read is named, unless it may be the evidence itself")
    func unreadable() {
        for (path, shown) in [
            ("/nowhere/receipt", "/nowhere/receipt"), (String(repeating: "e", count: 300), "the file"),
        ] {
            #expect(throws: CommandFailure(.failed, "\(shown) cannot be read; - reads standard input")) {
                try EvidenceInput.read(path)
            }
        }
    }

    @Test("A file larger than a submission may be is refused")
    func large() throws {
        let folder = try SampleRun().folder
        let bytes = Data(repeating: 0x41, count: SubmissionReading.maxValueBytes + 1)
        try bytes.write(to: URL(filePath: folder + "/large"))
        #expect(throws: CommandFailure(.failed, "\(folder)/large is larger than a submission may be")) {
            try EvidenceInput.read(folder + "/large")
        }
    }
}
