import Foundation
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("Mistakes in the configuration")
    struct ConfigurationMistakeTests {
        /// A mistake and the name that the worker must call it by.
        struct Mistake: CustomTestStringConvertible, Sendable {
            let testDescription: String
            var environment: [String: String?] = [:]
            var file: String?
            /// What the properties file holds.
            var properties = "sasl.passwort=\(secret)\n"
            var commands = ["run", "check"]
            let named: String
        }

        static let secret = "canary-of-a-secret"

        static let mistakes = [
            Mistake(
                testDescription: "no bootstrap servers", environment: ["GRANTOR_KAFKA_BOOTSTRAP_SERVERS": nil],
                named: "GRANTOR_KAFKA_BOOTSTRAP_SERVERS"),
            Mistake(
                testDescription: "an unknown key in the YAML file", file: "kafka:\n  bootstrap: \(secret)\n",
                named: "kafka.bootstrap"),
            Mistake(
                testDescription: "an apps file that is not there",
                environment: ["GRANTOR_APPS_FILE": "/nowhere/apps.yaml"], named: "GRANTOR_APPS_FILE"),
            Mistake(
                testDescription: "a URL without TLS",
                environment: ["GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": "http://\(secret)@127.0.0.1/verifyReceipt"],
                named: "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL"),
            Mistake(
                testDescription: "a librdkafka property that does not exist",
                file: "kafka:\n  propertiesFile: PROPERTIES\n", named: "sasl.passwort"),
            Mistake(
                testDescription: "a producer that would lose events",
                file: "kafka:\n  propertiesFile: PROPERTIES\n", properties: "acks=0\n", named: "acks"),
            Mistake(
                testDescription: "a consumer that would not commit",
                file: "kafka:\n  propertiesFile: PROPERTIES\n", properties: "enable.auto.commit=false\n",
                named: "enable.auto.commit"),
            Mistake(
                testDescription: "a ledger that is none", environment: ["GRANTOR_LEDGER_URL": "sqlite:/etc/hostname"],
                commands: ["run", "migrate"], named: "/etc/hostname is not a ledger"),
            Mistake(
                testDescription: "settings that libpq does not take",
                environment: ["GRANTOR_LEDGER_URL": "postgres://127.0.0.1/game?sslmode=\(secret)"],
                commands: ["run", "migrate"], named: "sslmode"),
        ]

        @Test("One line names the key and no secret, and the status is 78", arguments: mistakes)
        func mistake(_ mistake: Mistake) async throws {
            let folder = try TemporaryFolder()
            let properties = try folder.write(mistake.properties, to: "kafka.properties")
            var environment: [String: String?] = [
                "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9", "GRANTOR_APPS_FILE": try AppsFile.write(in: folder),
                "GRANTOR_LEDGER_URL": "sqlite:\(folder.url.path)/ledger.db", "GRANTOR_HTTP_BIND": "127.0.0.1:0",
            ]
            environment.merge(mistake.environment) { $1 }
            var arguments: [String] = []
            if let file = mistake.file?.replacing("PROPERTIES", with: properties) {
                arguments += ["--config", try folder.write(file, to: "grantor.yaml")]
            }
            for command in mistake.commands {
                let process = try ChildProcess(
                    Executables.built("grantor"), [command] + arguments,
                    environment: environment.compactMapValues { $0 },
                    in: folder.url, name: command)

                #expect(try await process.exit(within: .seconds(20)) == .code(78))
                let lines = process.errors.lines.filter { !$0.hasPrefix("{") }
                #expect(lines.count == 1)
                #expect(lines.first?.hasPrefix("grantor: ") == true)
                #expect(lines.first?.contains(mistake.named) == true)
                #expect(!FileManager.default.fileExists(atPath: folder.url.path + "/ledger.db"))
                for secret in [Self.secret, Apple.sharedSecret] {
                    #expect(!process.errors.text.contains(secret))
                    #expect(!process.output.text.contains(secret))
                }
            }
        }
    }
}
