import Foundation
import Fulfillment
import Logging
import Testing

@testable import Worker

@Suite("Worker configuration")
struct WorkerConfigurationTests {
    private func load(_ environment: [String: String], file: String? = nil) throws -> WorkerConfiguration {
        try WorkerConfiguration.load(file: file, environment: environment)
    }

    /// The error's one line; nil if the configuration is accepted.
    private func refusal(_ environment: [String: String], file: String? = nil) -> String? {
        do {
            _ = try WorkerConfiguration.load(file: file, environment: environment)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Without anything set the defaults hold")
    func defaults() throws {
        let configuration = try load(["PATH": "/bin"])
        #expect(configuration.kafka.bootstrapServers == nil)
        #expect(configuration.kafka.groupID == "grantor")
        #expect(configuration.kafka.topics == TopicNames())
        #expect(configuration.ledger == .file("grantor.db"))
        #expect(configuration.verification == VerificationSettings())
        #expect(configuration.verification.maxInFlight == 1000)
        #expect(configuration.verification.notFoundWindow == .seconds(21_600))
        #expect(configuration.verification.maxSubmissionAge == nil)
        #expect(configuration.http == HTTPBind(host: "127.0.0.1", port: 8080))
        #expect(configuration.apple.verifyReceiptProductionURL == "https://buy.itunes.apple.com/verifyReceipt")
        #expect(configuration.apple.verifyReceiptSandboxURL == "https://sandbox.itunes.apple.com/verifyReceipt")
        #expect(configuration.log.level == .info)
        #expect(configuration.log.format == .json)
        #expect(configuration.source(.maxInFlight) == .default)
    }

    @Test("The age at which a submission is given up comes from file or environment, and reaches the pipeline")
    func maxSubmissionAge() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("maxSubmissionAge: 7d\n", to: "grantor.yaml")
        #expect(try load([:], file: file).verification.maxSubmissionAge == .seconds(7 * 86_400))
        let apps = try folder.write("apps:\n  - bundleId: com.example.game\n    receipts: local\n", to: "apps.yaml")
        var environment = [
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "kafka:9092", "GRANTOR_APPS_FILE": apps,
            "GRANTOR_MAX_SUBMISSION_AGE": "36h",
        ]
        #expect(try WorkerPlan(load(environment, file: file)).pipeline.retry.maxAge == .seconds(36 * 3600))
        environment["GRANTOR_MAX_SUBMISSION_AGE"] = nil
        #expect(try WorkerPlan(load(environment, file: file)).pipeline.retry.maxAge == .seconds(7 * 86_400))
        #expect(try WorkerPlan(load(environment)).pipeline.retry.maxAge == nil)
    }

    @Test(
        "The window holds what so many calls are about, unless it is set",
        arguments: [
            (["GRANTOR_MAX_IN_FLIGHT": "100"], 8 << 20), (["GRANTOR_MAX_IN_FLIGHT": "4000"], 4000 * 18_432),
            (["GRANTOR_MAX_IN_FLIGHT": "4000", "GRANTOR_MAX_WINDOW_BYTES": "1048576"], 1 << 20),
        ])
    func window(environment: [String: String], bytes: Int) throws {
        #expect(try load(environment).verification.maxWindowBytes == bytes)
    }

    @Test("The environment wins over the file, the file over the defaults")
    func layers() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            """
            kafka:
              bootstrapServers: file:9092
              groupId: from-file
            maxInFlight: 7
            shutdownTimeout: 90
            """, to: "grantor.yaml")
        let configuration = try load(["GRANTOR_KAFKA_GROUP_ID": "from-environment"], file: file)
        #expect(configuration.kafka.groupID == "from-environment")
        #expect(configuration.kafka.bootstrapServers == "file:9092")
        #expect(configuration.verification.maxInFlight == 7)
        #expect(configuration.verification.shutdownTimeout == .seconds(90))
        #expect(configuration.source(.kafkaGroupID) == .environment)
        #expect(configuration.source(.maxInFlight) == .file)
    }

    @Test(
        "A value that a key does not take is refused by the key's two names, never by the value",
        arguments: [
            (ConfigurationKey.maxInFlight, "many-secret"), (.maxInFlight, "0"), (.maxInFlight, "10001"),
            (.maxInFlight, "1.5"), (.maxInFlight, ""), (.maxWindowBytes, "12-secret"), (.notFoundWindow, "6 secrets"),
            (.notFoundWindow, "31d"), (.maxSubmissionAge, "59m"), (.maxSubmissionAge, "366d"),
            (.maxSubmissionAge, "never"), (.shutdownTimeout, "0"), (.shutdownTimeout, "-1s"), (.httpBind, "secret"),
            (.httpBind, "127.0.0.1"), (.httpBind, "127.0.0.1:+80"), (.httpBind, ":8080"), (.httpBind, "a:70000"),
            (.httpBind, "::1:8080"), (.logLevel, "secret"), (.logFormat, "xml-secret"),
            (.kafkaBootstrapServers, "secret"), (.kafkaBootstrapServers, "a:9092,,b:9092"),
            (.kafkaBootstrapServers, "a:9092, b:9092"), (.kafkaGroupID, "a\u{7}secret"),
            (.kafkaGroupID, " "), (.kafkaGroupID, "secret "), (.kafkaGroupInstanceID, " secret"),
            (.kafkaGroupID, "secret\u{200b}"), (.kafkaGroupID, "\u{feff}secret"),
            (.kafkaGroupInstanceID, "sec\u{2060}ret"),
            (.kafkaAssignmentStrategy, "sticky-secret"), (.kafkaAssignmentStrategy, "range,roundrobin"),
            (.kafkaGroupInstanceID, String(repeating: "secret", count: 50)), (.topicSubmitted, "^secret"),
            (.topicGranted, ".."), (.topicFailed, "a b"),
            (.topicQuarantined, String(repeating: "x", count: 250)), (.ledgerURL, "secret.db"), (.ledgerURL, "sqlite:"),
            (.ledgerURL, "sqlite://host/secret"), (.ledgerURL, "sqlite::memory:"),
            (.ledgerURL, "sqlite: "), (.ledgerURL, "sqlite:secret.db "), (.ledgerURL, "sqlite:secret\u{FFFD}.db"),
            (.ledgerURL, "postgres://worker:secret@secret@db/game"), (.ledgerURL, "postgres://worker:sec/ret@db/game"),
            (.verifyReceiptProductionURL, "http://secret/verifyReceipt"), (.verifyReceiptSandboxURL, "https://"),
            (.verifyReceiptSandboxURL, "https://user:secret@host/"), (.serverAPIProductionURL, "ftp://secret"),
            (.serverAPISandboxURL, "https://secret/inApps/v1"), (.appleConnectTimeout, "secret"), (.appleTimeout, "1h"),
        ])
    func invalid(key: ConfigurationKey, value: String) throws {
        let line = try #require(refusal([key.environmentName: value]))
        #expect(line.contains(key.environmentName))
        #expect(line.contains(key.rawValue))
        #expect(!line.contains("secret"))
        #expect(!line.contains("\n"))
    }

    @Test(
        "Keys that contradict each other are both named",
        arguments: [
            (["GRANTOR_TOPIC_FAILED": "purchases.granted"], "GRANTOR_TOPIC_GRANTED", "GRANTOR_TOPIC_FAILED"),
            (["GRANTOR_TOPIC_SUBMITTED": "x", "GRANTOR_TOPIC_QUARANTINED": "x"], "_SUBMITTED", "_QUARANTINED"),
            (
                ["GRANTOR_APPLE_CONNECT_TIMEOUT": "30s"], "GRANTOR_APPLE_CONNECT_TIMEOUT",
                "GRANTOR_APPLE_TIMEOUT"
            ),
            (
                ["GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": "https://buy.itunes.apple.com/verifyReceipt"],
                "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL", "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL"
            ),
        ])
    func contradictions(environment: [String: String], one: String, other: String) throws {
        let line = try #require(refusal(environment))
        #expect(line.contains(one) && line.contains(other))
    }

    @Test("An unknown variable is an error that names the nearest known one")
    func unknownVariable() {
        #expect(
            refusal(["GRANTOR_MAX_INFLIGHT": "5"])
                == "unknown environment variable GRANTOR_MAX_INFLIGHT; did you mean GRANTOR_MAX_IN_FLIGHT?")
        #expect(refusal(["GRANTOR_XYZZY": "secret"]) == "unknown environment variable GRANTOR_XYZZY")
    }

    @Test(
        "Variables that Kubernetes makes up for services are nobody's mistake",
        arguments: [
            "GRANTOR_PORT", "GRANTOR_SERVICE_HOST", "GRANTOR_SERVICE_PORT", "GRANTOR_SERVICE_PORT_HTTP",
            "GRANTOR_PORT_8080_TCP", "GRANTOR_PORT_8080_TCP_ADDR", "GRANTOR_METRICS_SERVICE_HOST",
            "GRANTOR_METRICS_PORT_80_UDP_PROTO",
        ])
    func serviceLinks(name: String) {
        #expect(refusal([name: "tcp://10.0.0.1:8080"]) == nil)
    }

    @Test("Unknown keys of the file are errors that name file, line and the nearest known key")
    func unknownKeys() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("kafka:\n  groupId: a\n  bootstrapServer: secret:1\n", to: "grantor.yaml")
        #expect(
            refusal([:], file: file)
                == "\(file):3: kafka.bootstrapServer: unknown; did you mean kafka.bootstrapServers?")
        let other = try folder.write("plugh: secret\n", to: "other.yaml")
        #expect(refusal([:], file: other) == "\(other):1: plugh: unknown")
    }

    @Test(
        "A file that is no configuration is refused by its place, without its text",
        arguments: [
            ("- secret\n", "must be a mapping"), ("maxInFlight: [secret]\n", "maxInFlight must be a single value"),
            ("kafka: secret\n", "kafka must be a mapping"), ("maxInFlight:\n", "maxInFlight must be set, not empty"),
            ("maxInFlight: 1\nmaxInFlight: 2\n", "given twice"),
            ("log.level: info\nlog: {level: secret}\n", ":2: log.level: given twice"), ("a: 'secret\n", "not YAML"),
            ("log: {level: info\n", "not YAML"), ("x: [a, b", "not YAML"),
        ])
    func malformedFiles(text: String, problem: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(text, to: "grantor.yaml")
        let line = try #require(refusal([:], file: file))
        #expect(line.hasPrefix(file))
        #expect(line.contains(problem))
        #expect(!line.contains("secret"))
    }

    @Test(
        "A value of the file that its key does not take is refused by file and line",
        arguments: [
            ("log:\n  level: info\nmaxInFlight: secret\n", ":3: maxInFlight must be a whole number from 1 to 10000"),
            (
                "kafka:\n  groupId: a\n  propertiesFile: /nowhere\n",
                ":3: kafka.propertiesFile: /nowhere: there is no such file"
            ),
            (
                "topic:\n  failed: purchases.granted\n",
                ":2: GRANTOR_TOPIC_GRANTED (topic.granted in the file) and GRANTOR_TOPIC_FAILED (topic.failed in the file) "
                    + "must name different topics"
            ),
        ])
    func place(text: String, line: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(text, to: "grantor.yaml")
        #expect(refusal([:], file: file) == file + line)
        #expect(refusal(["GRANTOR_MAX_IN_FLIGHT": "0"])?.hasPrefix("GRANTOR_MAX_IN_FLIGHT (maxInFlight") == true)
    }

    @Test("An empty file sets nothing")
    func emptyFile() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("# nothing yet\n", to: "grantor.yaml")
        #expect(refusal([:], file: file) == nil)
    }

    @Test("A missing file, a folder, a large file and one that is no text are told apart")
    func unreadableFiles() throws {
        let folder = try TemporaryFolder()
        let missing = folder.path + "/missing.yaml"
        #expect(refusal([:], file: missing) == "\(missing): there is no such file")
        #expect(refusal([:], file: folder.path) == "\(folder.path): it is a folder, not a file")
        let large = try folder.write(String(repeating: "#", count: ConfigurationFile.maxBytes + 1), to: "large.yaml")
        #expect(refusal([:], file: large) == "\(large): the file is larger than 262144 bytes")
        let binary = try folder.write(Data([0xFF, 0xFE, 0x00]), to: "binary.yaml")
        #expect(refusal([:], file: binary) == "\(binary): the file is not UTF-8 text")
    }

    @Test("A PostgreSQL URL is shown without its password, and a broken one not at all")
    func postgres() throws {
        let configuration = try load(["GRANTOR_LEDGER_URL": "postgresql://worker:secret@db:5433/game?sslmode=require"])
        #expect("\(configuration.ledger)" == "postgres://worker@db:5433/game")
        #expect(configuration.describe().contains("postgres://worker@db:5433/game"))
        #expect(!configuration.describe().contains("secret"))
        #expect(!String(reflecting: configuration.ledger).contains("secret"))
        for url in ["postgres://worker:se%cret@db/game", "postgres://db/game?secret=1", "postgres://[::1/secret"] {
            let line = try #require(refusal(["GRANTOR_LEDGER_URL": url]))
            #expect(line.contains("GRANTOR_LEDGER_URL"))
            #expect(!line.contains("cret"))
        }
    }

    @Test("A wrong strategy is refused with the words that it takes")
    func strategies() {
        #expect(
            refusal(["GRANTOR_KAFKA_ASSIGNMENT_STRATEGY": "sticky"])
                == "GRANTOR_KAFKA_ASSIGNMENT_STRATEGY (kafka.assignmentStrategy in the file) must be one of "
                + "range, roundrobin, cooperative-sticky")
    }

    @Test("The strategy is shown with where it comes from: the key, else the properties, else the default")
    func strategyShown() throws {
        let folder = try TemporaryFolder()
        let properties = try folder.write("partition.assignment.strategy=roundrobin\n", to: "kafka.properties")
        func shown(_ environment: [String: String]) throws -> String? {
            try load(environment).lines().first { $0.key == .kafkaAssignmentStrategy }?.shown
        }
        #expect(try shown([:]) == "range")
        #expect(try shown(["GRANTOR_KAFKA_PROPERTIES_FILE": properties]) == "as in kafka.propertiesFile")
        #expect(
            try shown([
                "GRANTOR_KAFKA_PROPERTIES_FILE": properties, "GRANTOR_KAFKA_ASSIGNMENT_STRATEGY": "cooperative-sticky",
            ]) == "cooperative-sticky")
    }

    @Test("What only some commands need is missed when it is asked for")
    func required() throws {
        let configuration = try load([:])
        #expect(throws: ConfigurationError.missing(.kafkaBootstrapServers)) {
            try configuration.kafka.requiredBootstrapServers()
        }
        #expect(throws: ConfigurationError.missing(.appsFile)) { try configuration.requiredAppsFile() }
        #expect(
            ConfigurationError.missing(.appsFile).description == "GRANTOR_APPS_FILE (appsFile in the file) must be set")
    }

    @Test("A certificate file has to be there and to hold a certificate")
    func certificates() throws {
        let folder = try TemporaryFolder()
        let good = try folder.write("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", to: "ca.pem")
        let bad = try folder.write("no certificate", to: "bad.pem")
        #expect(try load(["GRANTOR_APPLE_CA_FILE": good]).apple.caFile == good)
        #expect(try load(["GRANTOR_APPLE_ROOT_CERTIFICATES": good]).apple.rootCertificatesFile == good)
        #expect(refusal(["GRANTOR_APPLE_CA_FILE": bad])?.contains("GRANTOR_APPLE_CA_FILE") == true)
        #expect(
            refusal(["GRANTOR_APPLE_CA_FILE": bad + "x"])
                == "GRANTOR_APPLE_CA_FILE (apple.caFile in the file): \(bad)x: there is no such file")
        #expect(
            refusal(["GRANTOR_KAFKA_PROPERTIES_FILE": bad + "x"])
                == "GRANTOR_KAFKA_PROPERTIES_FILE (kafka.propertiesFile in the file): \(bad)x: there is no such file")
    }

    @Test("Values of the other forms are read")
    func forms() throws {
        let configuration = try load([
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "kafka-1:9092,[::1]:9093",
            "GRANTOR_LEDGER_URL": "sqlite:/data/grantor.db",
            "GRANTOR_HTTP_BIND": "[::1]:9090", "GRANTOR_LOG_LEVEL": "debug", "GRANTOR_LOG_FORMAT": "text",
            "GRANTOR_NOT_FOUND_WINDOW": "0s", "GRANTOR_MAX_WINDOW_BYTES": "1048576", "GRANTOR_APPS_FILE": "apps.yaml",
            "GRANTOR_SERVER_API_PRODUCTION_URL": "https://127.0.0.1:9446",
        ])
        #expect(try configuration.kafka.requiredBootstrapServers() == "kafka-1:9092,[::1]:9093")
        #expect(configuration.ledger == .file("/data/grantor.db"))
        #expect(configuration.http == HTTPBind(host: "::1", port: 9090))
        #expect(configuration.http.description == "[::1]:9090")
        #expect(configuration.log.level == .debug)
        #expect(configuration.log.format == .text)
        #expect(configuration.verification.notFoundWindow == .zero)
        #expect(configuration.verification.maxWindowBytes == 1 << 20)
        #expect(try configuration.requiredAppsFile() == "apps.yaml")
        #expect(configuration.apple.serverAPIProductionURL == "https://127.0.0.1:9446")
    }
}
