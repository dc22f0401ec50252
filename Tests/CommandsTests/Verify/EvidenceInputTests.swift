import CommandParser
import Contract
import Foundation
import Testing

@testable import Commands

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
