import AppStore
import CommandParser
import Configuration
import Contract
import FileTesting
import Foundation
import Logging
import Testing

@testable import Commands

@Suite("Asking Apple over HTTPS")
struct AppleCallerTests {
    private let logger = Logger(label: "test", level: .critical, handler: LineLogHandler(format: .text))

    @Test("A host that nothing listens on cannot be reached, call after call", .timeLimit(.minutes(5)))
    func unreachable() throws {
        // Port 1 is privileged, and no service of a test.
        let values = try SettingValues.load(
            file: nil,
            environment: [
                "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": "https://127.0.0.1:1/verifyReceipt",
                // The longest limit: the missing listener is noticed before.
                "GRANTOR_APPLE_CONNECT_TIMEOUT": "60s", "GRANTOR_APPLE_TIMEOUT": "2m",
            ])
        let caller = try HTTPSAppleCaller(AppleSettings(values), logger: logger)
        for _ in 0..<3 { #expect(caller.replyToEmptyReceipt(.production) == .failed(.unreachable)) }
    }

    @Test("A file of authorities that is not there any more is the configuration's fault")
    func authorities() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.path + "/ca.pem"
        try "-----BEGIN CERTIFICATE-----\n".write(toFile: file, atomically: true, encoding: .utf8)
        let values = try SettingValues.load(file: nil, environment: ["GRANTOR_APPLE_CA_FILE": file])
        let settings = try AppleSettings(values)
        try FileManager.default.removeItem(atPath: file)
        let error = #expect(throws: CommandFailure.self) { try HTTPSAppleCaller(settings, logger: logger) }
        #expect(error?.status == .configuration)
    }
}

@Suite("Checking Kafka clients")
struct KafkaClientCheckTests {
    @Test(
        "A mistake in the properties names their file, the line where it is one property's, and no value",
        arguments: [
            ("acks=1\n", ":1: the property acks "),
            ("security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\nsasl.password=canary\n", ": "),
        ])
    func properties(text: String, continuation: String) throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.path + "/kafka.properties"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let values = try SettingValues.load(
            file: nil,
            environment: [
                "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "GRANTOR_KAFKA_PROPERTIES_FILE": file,
            ])
        let settings = try KafkaSettings(values)
        let failure = #expect(throws: CommandFailure.self) { try settings.checkClients() }
        #expect(failure?.status == .configuration)
        #expect(failure?.message?.hasPrefix("Kafka: \(file)\(continuation)") == true)
        #expect(failure?.message?.contains("canary") == false)
    }
}
