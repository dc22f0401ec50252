import FileTesting
import Logging
import Testing

@testable import Configuration

@Suite("The table of settings")
struct SettingsTests {
    @Test(
        "A variable's name follows from the key",
        arguments: [
            ("kafka.bootstrapServers", "GRANTOR_KAFKA_BOOTSTRAP_SERVERS"), ("kafka.groupId", "GRANTOR_KAFKA_GROUP_ID"),
            ("kafka.groupInstanceId", "GRANTOR_KAFKA_GROUP_INSTANCE_ID"),
            ("kafka.propertiesFile", "GRANTOR_KAFKA_PROPERTIES_FILE"), ("topic.submitted", "GRANTOR_TOPIC_SUBMITTED"),
            ("topic.granted", "GRANTOR_TOPIC_GRANTED"), ("topic.failed", "GRANTOR_TOPIC_FAILED"),
            ("topic.pending", "GRANTOR_TOPIC_PENDING"),
            ("topic.quarantined", "GRANTOR_TOPIC_QUARANTINED"), ("ledger.url", "GRANTOR_LEDGER_URL"),
            ("appsFile", "GRANTOR_APPS_FILE"), ("maxCalls", "GRANTOR_MAX_CALLS"),
            ("maxInFlightBytes", "GRANTOR_MAX_IN_FLIGHT_BYTES"), ("maxRetryBytes", "GRANTOR_MAX_RETRY_BYTES"),
            ("doubtLimit", "GRANTOR_DOUBT_LIMIT"), ("keepAnswers", "GRANTOR_KEEP_ANSWERS"),
            ("shutdownTimeout", "GRANTOR_SHUTDOWN_TIMEOUT"),
            ("http.bind", "GRANTOR_HTTP_BIND"), ("api.bind", "GRANTOR_API_BIND"),
            ("api.tokensFile", "GRANTOR_API_TOKENS_FILE"), ("log.level", "GRANTOR_LOG_LEVEL"),
            ("log.format", "GRANTOR_LOG_FORMAT"),
            ("verifyReceipt.productionUrl", "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL"),
            ("verifyReceipt.sandboxUrl", "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL"),
            ("serverAPI.productionUrl", "GRANTOR_SERVER_API_PRODUCTION_URL"),
            ("serverAPI.sandboxUrl", "GRANTOR_SERVER_API_SANDBOX_URL"), ("apple.proxy", "GRANTOR_APPLE_PROXY"),
            ("apple.caFile", "GRANTOR_APPLE_CA_FILE"),
            ("apple.rootCertificates", "GRANTOR_APPLE_ROOT_CERTIFICATES"),
            ("apple.connectTimeout", "GRANTOR_APPLE_CONNECT_TIMEOUT"), ("apple.timeout", "GRANTOR_APPLE_TIMEOUT"),
        ])
    func environmentNames(key: String, variable: String) {
        #expect(SettingName(key).environmentName == variable)
        #expect(Settings.all.contains { $0.name.key == key })
    }

    @Test("No two settings share a name, and none is the beginning of another")
    func distinct() {
        let keys = Settings.all.map(\.name.key)
        #expect(Set(keys).count == 32 && keys.count == 32)
        #expect(Set(Settings.all.map(\.name.environmentName)).count == keys.count)
        for key in keys { #expect(!keys.contains { $0.hasPrefix(key + ".") }) }
    }

    @Test("The documentation has the table as it is")
    func documentation() throws {
        let page = try Repository.text("docs/configuration.md")
        let rows = Settings.all.map { row in
            "| `\(row.name.environmentName)` | `\(row.name.key)` | \(row.documentedDefault) | \(row.help) |\n"
        }
        let table = "| variable | key in the file | default | |\n|---|---|---|---|\n" + rows.joined()
        #expect(page.contains(table), "docs/configuration.md must contain:\n\(table)")
    }
}

@Suite("Layers of settings")
struct SettingValuesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func values(
        _ environment: [String: String] = [:], file text: String? = nil
    ) throws -> SettingValues {
        let file = try text.map { try folder.write($0, to: "grantor.yaml") }
        return try SettingValues.load(file: file, environment: environment)
    }

    /// The error's line without the folder, or nil.
    private func refusal(
        _ environment: [String: String] = [:], file text: String? = nil
    ) throws -> String? {
        do {
            let values = try values(environment, file: text)
            for row in Settings.all where values.source(row.name) != .default { _ = try row.shown(values) }
            return nil
        } catch let error as ConfigurationError {
            return error.description.replacing(folder.path + "/", with: "")
        }
    }

    @Test("The environment wins over the file, the file over the default")
    func layers() throws {
        let values = try values(
            ["GRANTOR_LOG_LEVEL": "debug", "PATH": "/bin"], file: "log:\n  level: error\n  format: text\n")
        #expect(try values.value(Settings.logLevel) == .debug)
        #expect(try values.value(Settings.logFormat) == .text)
        #expect(try values.value(Settings.maxCalls) == 1000)
        #expect(values.source(Settings.logLevel.name) == .environment)
        #expect(values.source(Settings.logFormat.name) == .file)
        #expect(values.source(Settings.maxCalls.name) == .default)
    }

    @Test("Every setting is read under its variable's name and under its key in the file")
    func bothNames() throws {
        for row in Settings.all {
            let nested = row.name.key.split(separator: ".").enumerated()
                .map { String(repeating: "  ", count: $0) + $1 + ":" }.joined(separator: "\n")
            #expect(try values(file: nested + " value").source(row.name) == .file)
            #expect(try values([row.name.environmentName: "value"]).source(row.name) == .environment)
        }
    }

    @Test(
        "Names that set nothing are errors",
        arguments: [
            ("maxInFlight: 1\n", "grantor.yaml:1: maxInFlight is unknown; docs/configuration.md has every name"),
            (
                "kafka:\n  groupId: a\n  bootstrapServer: secret:1\n",
                "grantor.yaml:3: kafka.bootstrapServer is unknown; docs/configuration.md has every name"
            ),
            ("log.level: info\n", "grantor.yaml:1: log.level is unknown; docs/configuration.md has every name"),
            ("kafka: secret\n", "grantor.yaml:1: kafka must be a mapping of names to values"),
            ("- secret\n", "grantor.yaml:1 must be a mapping of names to values"),
            ("maxCalls: [secret]\n", "grantor.yaml:1: maxCalls must be a single value"),
            ("maxCalls:\n", "grantor.yaml:1: maxCalls must be set, not empty"),
            (
                "log:\n  level: info\nmaxCalls: secret\n",
                "grantor.yaml:3: maxCalls must be a whole number from 1 to 10000"
            ),
            (
                "kafka:\n  groupId: a\n  propertiesFile: /nowhere\n",
                "grantor.yaml:3: kafka.propertiesFile must be the path of a file, absolute or relative to the working directory, "
                    + "and there is no such file"
            ),
        ])
    func mistakesInFile(text: String, line: String) throws {
        #expect(try refusal(file: text) == line)
    }

    @Test("A file without values sets nothing", arguments: ["", "# nothing yet\n"])
    func emptyFile(text: String) throws {
        #expect(try refusal(file: text) == nil)
    }

    @Test("An unknown variable is an error that does not show its value")
    func unknownVariable() throws {
        #expect(
            try refusal(["GRANTOR_MAX_IN_FLIGHT": "secret"])
                == "unknown environment variable GRANTOR_MAX_IN_FLIGHT; docs/configuration.md has every setting")
    }

    @Test(
        "Variables that Kubernetes makes up for services are nobody's mistake",
        arguments: [
            "GRANTOR_PORT", "GRANTOR_SERVICE_HOST", "GRANTOR_SERVICE_PORT", "GRANTOR_SERVICE_PORT_HTTP",
            "GRANTOR_PORT_8080_TCP", "GRANTOR_PORT_8080_TCP_ADDR", "GRANTOR_METRICS_SERVICE_HOST",
            "GRANTOR_METRICS_PORT_80_UDP_PROTO",
        ])
    func serviceLinks(name: String) throws {
        #expect(try refusal([name: "tcp://10.0.0.1:8080"]) == nil)
    }

    @Test(
        "A value of another form is refused by both names and never shown",
        arguments: [
            ("maxCalls", "0"), ("maxCalls", "10001"), ("maxCalls", "secret"), ("maxCalls", "+5"), ("maxCalls", "1e3"),
            ("maxInFlightBytes", "1048576"), ("maxInFlightBytes", "1023KiB"), ("maxInFlightBytes", "5GiB"),
            ("maxRetryBytes", "secretMiB"), ("doubtLimit", "31d"), ("doubtLimit", "90"), ("shutdownTimeout", "0s"),
            ("keepAnswers", "23h"), ("keepAnswers", "0d"), ("keepAnswers", "36501d"), ("keepAnswers", "secret"),
            ("shutdownTimeout", "-1s"), ("http.bind", "secret"), ("http.bind", "127.0.0.1:+80"),
            ("http.bind", "::1:8080"), ("log.level", "secret"), ("log.format", "xml-secret"),
            ("kafka.bootstrapServers", "secret"), ("kafka.bootstrapServers", "a:9092,,b:9092"),
            ("kafka.bootstrapServers", "a:9092, b:9092"), ("kafka.groupId", "a\u{7}secret"), ("kafka.groupId", " "),
            ("kafka.groupId", "secret "), ("kafka.groupId", "secret\u{200b}"), ("kafka.groupId", "\u{feff}secret"),
            ("kafka.groupInstanceId", " secret"), ("kafka.groupInstanceId", String(repeating: "secret", count: 50)),
            ("topic.submitted", "^secret"), ("topic.granted", ".."), ("topic.failed", "a b"),
            ("topic.quarantined", String(repeating: "x", count: 250)), ("ledger.url", "secret.db"),
            ("ledger.url", "sqlite:"), ("ledger.url", "sqlite://host/secret"), ("ledger.url", "sqlite::memory:"),
            ("ledger.url", "sqlite: "), ("ledger.url", "sqlite:/secret.db?mode=ro"),
            ("ledger.url", "sqlite:secret.db "), ("ledger.url", "sqlite:secret\u{FFFD}.db"),
            ("ledger.url", "mysql://me:secret@db/game"), ("verifyReceipt.productionUrl", "http://secret/verifyReceipt"),
            ("verifyReceipt.sandboxUrl", "https://user:secret@host/"), ("serverAPI.productionUrl", "ftp://secret"),
            ("serverAPI.sandboxUrl", "https://secret/inApps/v1"), ("apple.connectTimeout", "secret"),
            ("apple.timeout", "1h"), ("apple.proxy", "secret:3128"), ("appsFile", ""), ("log.level", ""),
        ])
    func invalid(key: String, value: String) throws {
        let name = SettingName(key)
        let line = try #require(try refusal([name.environmentName: value]))
        #expect(line.hasPrefix("\(name) must be "))
        #expect(!line.contains("secret") && !line.contains("\n"))
    }

    @Test("A required setting is missed when it is asked for")
    func required() throws {
        let values = try values()
        #expect(throws: ConfigurationError.missing(Settings.bootstrapServers.name)) {
            try values.value(Settings.bootstrapServers)
        }
        #expect(
            ConfigurationError.missing(Settings.appsFile.name).description
                == "GRANTOR_APPS_FILE (appsFile in the file) must be set")
    }

    @Test("A certificate file has to be there and to hold a certificate")
    func certificates() throws {
        let good = try folder.write("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", to: "ca.pem")
        let bad = try folder.write("no certificate", to: "bad.pem")
        #expect(try values(["GRANTOR_APPLE_CA_FILE": good]).value(Settings.appleCAFile)?.path == good)
        let name = "GRANTOR_APPLE_CA_FILE (apple.caFile in the file)"
        #expect(try refusal(["GRANTOR_APPLE_CA_FILE": bad]) == "\(name): bad.pem: the file holds no certificate in PEM")
        #expect(try refusal(["GRANTOR_APPLE_CA_FILE": bad + "x"]) == "\(name): bad.pemx: there is no such file")
    }

    @Test("A missing file, a folder and a file that is no text are told apart")
    func unreadableFiles() throws {
        let binary = try folder.write([0xFF, 0xFE, 0x00], to: "binary.yaml")
        for (path, problem) in [
            (folder.path + "/missing.yaml", ConfigurationError.FileProblem.notThere), (folder.path, .folder),
            (binary, .notText),
        ] {
            #expect(throws: ConfigurationError.file(path, problem, namedBy: nil)) {
                try SettingValues.load(file: path, environment: [:])
            }
        }
    }
}
