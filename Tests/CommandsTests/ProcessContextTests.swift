import AppStore
import CommandParser
import Configuration
import Contract
import Foundation
import Logging
import Testing

@testable import Commands

@Suite("Asking Apple over HTTPS")
struct AppleCallerTests {
    private let logger = Logger(label: "test", level: .critical, handler: LineLogHandler(format: .text))

    @Test("A host that nothing listens on cannot be reached, call after call", .timeLimit(.minutes(1)))
    func unreachable() throws {
        // Port 1 is privileged, and no service of a test.
        let values = try SettingValues.load(
            file: nil, environment: ["GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": "https://127.0.0.1:1/verifyReceipt"])
        let caller = try HTTPSAppleCaller(AppleSettings(values), logger: logger)
        for _ in 0..<3 { #expect(caller.replyToEmptyReceipt(.production) == .failed(.unreachable)) }
    }

    @Test("A file of authorities that is not there any more is the configuration's fault")
    func authorities() throws {
        let folder = try SampleRun().folder
        let file = folder + "/ca.pem"
        try "-----BEGIN CERTIFICATE-----\n".write(toFile: file, atomically: true, encoding: .utf8)
        let values = try SettingValues.load(file: nil, environment: ["GRANTOR_APPLE_CA_FILE": file])
        let settings = try AppleSettings(values)
        try FileManager.default.removeItem(atPath: file)
        let error = #expect(throws: CommandFailure.self) { try HTTPSAppleCaller(settings, logger: logger) }
        #expect(error?.status == .configuration)
    }
}
