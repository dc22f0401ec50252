import Contract
import FileTesting
import Logging
import Testing

@testable import AppStore
@testable import Configuration

@Suite("Worker configuration")
struct WorkerConfigurationTests {
    private let sample: SampleSettings

    init() throws { sample = try SampleSettings() }

    @Test("A file of PostgreSQL's password goes with a database, and contradicts a file of SQLite's")
    func passwordFile() throws {
        let file = ["GRANTOR_LEDGER_PASSWORD_FILE": "/run/secrets/password"]
        let error = #expect(throws: ConfigurationError.self) { try sample.load(file) }
        #expect(error?.description.contains("a file of SQLite's has no password") == true)
        let settings = try sample.load(file.merging(["GRANTOR_LEDGER_URL": "postgres://kim@db/grantor"]) { $1 }).ledger
        var url = try #require(PostgresURL("postgres://kim@db/grantor"))
        #expect(settings != .postgres(url))
        let setting = ConfigurationError.Place.setting(SettingName("ledger.passwordFile"))
        url.password = PasswordFile(path: "/run/secrets/password", place: setting)
        #expect(settings == .postgres(url))
    }

    @Test("A password is the one line of its file, whoever else may read that, and stands in no refusal of it")
    func password() throws {
        let folder = try TemporaryFolder()
        func read(_ text: String) throws -> Result<String, ConfigurationError> {
            let file = PasswordFile(
                path: try folder.write(text, to: "password"), place: .setting(SettingName("ledger.passwordFile")))
            return Result { () throws(ConfigurationError) in try file.read() }
        }
        #expect(try read("secret pass\r\n") == .success("secret pass"))
        for (text, problem) in [
            ("", "is empty"), ("\n", "white space"), ("secret\nsecret\n", "must hold one line, the password"),
            ("\u{FEFF}secret", "byte order mark"), ("secret\0", "NUL bytes"),
            (String(repeating: "secret", count: 700), "larger than 4096 bytes"),
        ] {
            guard case .failure(let error) = try read(text) else {
                Issue.record("\(problem): it is read")
                continue
            }
            #expect(error.description.hasPrefix("GRANTOR_LEDGER_PASSWORD_FILE (ledger.passwordFile in the file): "))
            #expect(error.description.contains(problem) && !error.description.contains("secret"))
        }
    }

    @Test("With the required settings alone the defaults hold")
    func defaults() throws {
        let configuration = try sample.load()
        #expect(configuration.kafka.bootstrapServers == "kafka-1:9092,[::1]:9093")
        #expect(configuration.kafka.groupID == "grantor")
        #expect(configuration.kafka.groupInstanceID == nil && configuration.kafka.propertiesFile == nil)
        for topic in Topic.allCases { #expect(configuration.kafka.topics[topic] == topic.defaultName) }
        #expect(configuration.kafka.topics.inUse == [.submitted, .granted, .failed, .quarantined])
        #expect(configuration.ledger == .sqlite(path: "/data/grantor.db"))
        #expect(configuration.processing.maxCalls == 1000)
        #expect(configuration.processing.maxInFlightBytes == 12_288_000)
        #expect(configuration.processing.maxRetryBytes == 1 << 30)
        #expect(configuration.processing.doubtLimit == .seconds(21_600))
        #expect(configuration.processing.keepAnswers == nil)
        #expect(configuration.processing.shutdownTimeout == .seconds(20))
        #expect(configuration.http == HostAndPort(host: "127.0.0.1", port: 8080))
        #expect(configuration.apple.verifyReceiptProductionURL == "https://buy.itunes.apple.com/verifyReceipt")
        #expect(configuration.apple.serverAPISandboxURL == "https://api.storekit-sandbox.apple.com")
        #expect(configuration.apple.proxy == nil && configuration.apple.caFile == nil)
        #expect(configuration.log.level == .info && configuration.log.format == .json)
        #expect(configuration.apps.all.map(\.app.bundleID) == ["com.example.game"])
    }

    @Test("Answers stay for ever unless a time is set")
    func keptAnswers() throws {
        #expect(try !sample.load().processing.prunes)
        let processing = try sample.load(["GRANTOR_KEEP_ANSWERS": "90d"]).processing
        #expect(processing.prunes && processing.keepAnswers == .seconds(90 * 86_400))
    }

    @Test("Pending events are told where their topic has a name")
    func pending() throws {
        let topics = try sample.load(["GRANTOR_TOPIC_PENDING": "purchases.waiting"]).kafka.topics
        #expect(topics[.pending] == "purchases.waiting")
        #expect(topics.inUse == Topic.allCases)
    }

    @Test(
        "The settings that no worker can do without are required",
        arguments: ["GRANTOR_KAFKA_BOOTSTRAP_SERVERS", "GRANTOR_LEDGER_URL", "GRANTOR_APPS_FILE"])
    func required(variable: String) throws {
        var sample = sample
        sample.environment[variable] = nil
        let error = #expect(throws: ConfigurationError.self) { try sample.load() }
        #expect(error?.description.hasPrefix("\(variable) (") == true)
        #expect(error?.description.hasSuffix(" in the file) must be set") == true)
    }

    @Test(
        "The bytes in flight follow from the calls, unless they are set",
        arguments: [
            (["GRANTOR_MAX_CALLS": "100"], 8 << 20), (["GRANTOR_MAX_CALLS": "4000"], 4000 * 12_288),
            (["GRANTOR_MAX_CALLS": "4000", "GRANTOR_MAX_IN_FLIGHT_BYTES": "1MiB"], 1 << 20),
        ])
    func inFlightBytes(environment: [String: String], bytes: Int) throws {
        #expect(try sample.load(environment).processing.maxInFlightBytes == bytes)
    }

    @Test(
        "Settings that contradict each other are both named",
        arguments: [
            (["GRANTOR_TOPIC_FAILED": "purchases.granted"], "GRANTOR_TOPIC_GRANTED", "GRANTOR_TOPIC_FAILED"),
            (
                ["GRANTOR_TOPIC_SUBMITTED": "x", "GRANTOR_TOPIC_QUARANTINED": "x"], "GRANTOR_TOPIC_SUBMITTED",
                "GRANTOR_TOPIC_QUARANTINED"
            ),
            (["GRANTOR_APPLE_CONNECT_TIMEOUT": "30s"], "GRANTOR_APPLE_CONNECT_TIMEOUT", "GRANTOR_APPLE_TIMEOUT"),
            (
                ["GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": "https://BUY.itunes.apple.com/verifyReceipt/"],
                "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL", "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL"
            ),
            (
                ["GRANTOR_SERVER_API_PRODUCTION_URL": "https://api.storekit-sandbox.apple.com/"],
                "GRANTOR_SERVER_API_PRODUCTION_URL", "GRANTOR_SERVER_API_SANDBOX_URL"
            ),
        ])
    func contradictions(environment: [String: String], one: String, other: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try sample.load(environment) }
        #expect(error?.description.contains("\(one) (") == true && error?.description.contains("\(other) (") == true)
    }

    @Test("Roots other than Apple's come from a file that holds nothing else")
    func roots() throws {
        let name = "GRANTOR_APPLE_ROOT_CERTIFICATES"
        let good = try sample.folder.write(TrustedRoots.applePEM, to: "roots.pem")
        #expect(try sample.load([name: good]).lines.contains { $0.value == good })
        let bad = try sample.folder.write("none", to: "bad.pem")
        let error = #expect(throws: ConfigurationError.self) { try sample.load([name: bad]) }
        #expect(
            error?.description
                == "\(name) (apple.rootCertificates in the file): \(bad): the file cannot be used: It holds no certificate."
        )
    }

    @Test("Every setting is shown with its value and its source, in the order of the table")
    func lines() throws {
        let lines = try sample.load(["GRANTOR_SHUTDOWN_TIMEOUT": "120s", "GRANTOR_MAX_RETRY_BYTES": "2048MiB"]).lines
        #expect(lines.map(\.name) == Settings.all.map(\.name))
        func line(_ key: String) -> SettingLine? { lines.first { $0.name.key == key } }
        #expect(line("shutdownTimeout")?.value == "2m")
        #expect(line("shutdownTimeout")?.source == .environment)
        #expect(line("maxRetryBytes")?.value == "2GiB")
        #expect(line("maxCalls")?.value == "1000")
        #expect(line("maxCalls")?.source == .default)
        #expect(line("kafka.propertiesFile")?.value == "none")
        #expect(line("apple.caFile")?.value == "the system's")
        #expect(line("ledger.url")?.value == "sqlite:/data/grantor.db")
    }

    @Test("Of properties the names are shown, of secrets nothing, however they are dumped")
    func secrets() throws {
        let properties = try sample.folder.write(
            "sasl.password=canary-1\nssl.key.password=canary-2\n", to: "kafka.properties")
        let configuration = try sample.load([
            "GRANTOR_KAFKA_PROPERTIES_FILE": properties, "GRANTOR_APPLE_PROXY": "http://me:canary@proxy:3128",
            "GRANTOR_LEDGER_URL": "postgres://me:canary?#:@db:5432,db2/game?sslmode=verify-full&password=canary",
        ])
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in [dumped, "\(configuration)", String(reflecting: configuration), "\(configuration.lines)"] {
            #expect(!text.contains("canary"))
        }
        #expect(configuration.lines.contains { $0.value == "\(properties): sasl.password, ssl.key.password" })
        #expect(configuration.lines.contains { $0.value == "http://<redacted>@proxy:3128" })
        #expect(configuration.lines.contains { $0.value == "postgres://db:5432,db2/game" })
        #expect(configuration.kafka.revealedProperties["sasl.password"] == "canary-1")
    }

    @Test("A PostgreSQL URL shows its hosts and its database, and nothing where the password may stand among them")
    func mistakenURLs() throws {
        for (url, place) in [
            ("postgresql://grantor@db/grantor", "db/grantor"), ("postgres:///grantor?host=/run/postgresql", "/grantor"),
            ("postgres://me:ca?n#y@[::1]:5432,db2/a-b_c", "[::1]:5432,db2/a-b_c"),
            ("postgres://db/grantor?password=s3cret", "db/grantor"),
        ] { #expect(try #require(PostgresURL(url)).description == "postgres://\(place)") }
        for mistaken in [
            "postgres://db/grantor?user=grantor@srv&password=s3cret", "postgres://db/grantor?password=foo@bar",
            "postgres://grantor:s3cret/grantor", "postgres://me:12/s3cret?foo@db/grantor",
            "postgres://me@s3cret@db/grantor",
            "postgres://db/grantor&password=s3cret", "postgres://db/grantor/s3cret",
            "postgres://db?password=s3cret/foo",
            "postgres://me%3As3cret%40db/grantor", "postgres://s3cret",
        ] {
            let lines = try sample.load(["GRANTOR_LEDGER_URL": mistaken]).lines.map(\.value)
            #expect(lines.contains("postgres://<redacted>"), "\(mistaken)")
            for secret in ["s3cret", "foo", "bar"] { #expect(!lines.contains { $0.contains(secret) }, "\(mistaken)") }
        }
    }

    @Test("Roots that are not Apple's are doubted where Apple's own hosts are asked, and only there")
    func foreignRoots() throws {
        let folder = try TemporaryFolder()
        let apples = try folder.write(TrustedRoots.applePEM, to: "apple.pem")
        let other = try folder.write(TrustedRoots.appleRootCA, to: "one.pem")
        func doubts(_ settings: [String: String]) throws -> [SignatureDoubt] {
            try sample.load(settings).signatureDoubts(lacksSHA1: false)
        }
        #expect(try doubts([:]).isEmpty)
        #expect(try doubts(["GRANTOR_APPLE_ROOT_CERTIFICATES": apples]).isEmpty)
        #expect(try doubts(["GRANTOR_APPLE_ROOT_CERTIFICATES": other]) == [.foreignRoots])
        let simulator = [
            "GRANTOR_APPLE_ROOT_CERTIFICATES": other,
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": "https://apple.com.example.com/verifyReceipt",
            "GRANTOR_SERVER_API_PRODUCTION_URL": "https://simulator:8443",
        ]
        #expect(try doubts(simulator).isEmpty)
        let older = ["GRANTOR_SERVER_API_PRODUCTION_URL": "https://API.storekit.itunes.apple.com:443"]
        #expect(try doubts(simulator.merging(older) { $1 }) == [.foreignRoots])
    }

    @Test("A host without SHA-1 signatures is told where receipts are read here")
    func sha1() throws {
        let folder = try TemporaryFolder()
        let apps = try folder.write(
            "apps: [{bundleId: com.example.game, sandbox: {policy: reject}, products: any, receipts: local}]\n",
            to: "apps.yaml")
        #expect(try sample.load().signatureDoubts(lacksSHA1: true).isEmpty)
        let local = try sample.load(["GRANTOR_APPS_FILE": apps])
        #expect(local.signatureDoubts(lacksSHA1: true) == [.lacksSHA1])
        #expect(local.signatureDoubts(lacksSHA1: false).isEmpty)
    }
}
