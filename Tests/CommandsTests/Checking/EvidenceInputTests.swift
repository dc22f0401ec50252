import CommandParser
import Contract
import FileTesting
import Foundation
import Testing

@testable import Commands

@Suite("Evidence that people hand over")
struct EvidenceInputTests {
    private func input(_ text: String) -> EvidenceInput { EvidenceInput(Array(text.utf8)) }

    @Test("Evidence is known by its form, without the white space around it")
    func forms() {
        #expect(input(" a.b.c\n") == .evidence(.signedTransaction, "a.b.c"))
        #expect(input("\n2000000123456789\n") == .evidence(.transactionID, "2000000123456789"))
        #expect(input("MIIT\r\nAAAA\n") == .evidence(.receipt, "MIIT\r\nAAAA"))
        #expect(input("") == .evidence(.receipt, ""))
    }

    @Test("A byte order mark, quotes and a string's escapes are taken off")
    func around() {
        #expect(input("\u{FEFF}a.b.c") == .evidence(.signedTransaction, "a.b.c"))
        #expect(input("\"MIIT\\/AAAA\"\n") == .evidence(.receipt, "MIIT/AAAA"))
        #expect(input("\u{FEFF} 'MIIT' ") == .evidence(.receipt, "MIIT"))
        #expect(input("\"2000000123456789\"") == .evidence(.transactionID, "2000000123456789"))
        #expect(input("\"") == .evidence(.receipt, "\""))
        // Not a string of JSON, and in quotes all the same.
        #expect(input("\"MIIT\nAAAA\"") == .evidence(.receipt, "MIIT\nAAAA"))
    }

    @Test("A receipt as it lies on a device is read, and is no transaction id")
    func der() {
        let bytes: [UInt8] = [0x30, 0x82, 0x00, 0x00]
        #expect(EvidenceInput(bytes) == .evidence(.receipt, "MIIAAA=="))
        #expect(EvidenceInput([0x30, 0x80]) == .evidence(.receipt, "MIA="))
        #expect(EvidenceInput([0x30, 0x31]) == .evidence(.transactionID, "01"))
    }

    @Test("UTF-16, as Windows writes it into files, is read", arguments: [true, false])
    func utf16(isLittleEndian: Bool) {
        let units = Array("\u{FEFF}a.b.c\r\n".utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isLittleEndian ? [low, high] : [high, low]
        }
        #expect(EvidenceInput(bytes) == .evidence(.signedTransaction, "a.b.c"))
    }

    @Test("Evidence is taken out of the body of a verifyReceipt call and of Apple's replies")
    func wrapped() {
        #expect(input("{\"receipt-data\": \"MIIT\", \"password\": \"x\"}") == .evidence(.receipt, "MIIT"))
        #expect(input("{\"status\": 0, \"latest_receipt\": \"MIIT\"}") == .evidence(.receipt, "MIIT"))
        #expect(input("\u{FEFF}{\"signedTransactionInfo\": \"a.b.c\"}") == .evidence(.signedTransaction, "a.b.c"))
    }

    @Test("Other JSON is a record of the input topic, to the byte")
    func records() {
        for text in [
            "{\"submissionId\": \"s-1\", \"userId\": \"u-1\"}", "{", "\u{FEFF} {\"submissionId\": \"s-1\"}",
            "{\"submissionId\": \"s-1\", \"receipt-data\": \"MIIT\"}",
        ] {
            #expect(input(text) == .record(Array(text.utf8)))
        }
    }

    @Test("Evidence by itself is verified as a record that holds nothing else")
    func record() {
        let evidence: [(EvidenceInput.Member, Evidence)] = [
            (.receipt, .receipt(base64: "12")), (.signedTransaction, .signedTransaction("12")),
            (.transactionID, .transactionID("12")),
        ]
        for (member, expected) in evidence {
            let record = InputRecord(
                origin: Origin(topic: "", partition: 0, offset: 0), key: nil, value: member.record("12", of: "b"),
                timestamp: nil)
            guard case .submission(let read) = SubmissionReading(record, now: FixedLedger.time) else {
                return #expect(Bool(false))
            }
            #expect(read.evidence == expected && read.bundleID == "b" && read.receivedAt == FixedLedger.time)
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
        let files = try TemporaryFolder()
        defer { withExtendedLifetime(files) {} }
        let folder = files.path
        let bytes = Data(repeating: 0x41, count: EvidenceInput.maxFileBytes + 1)
        try bytes.write(to: URL(filePath: folder + "/large"))
        #expect(throws: CommandFailure(.failed, "\(folder)/large is larger than a submission may be")) {
            try EvidenceInput.read(folder + "/large")
        }
    }
}
