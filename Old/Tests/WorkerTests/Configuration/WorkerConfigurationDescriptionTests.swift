import Testing

@testable import Worker

@Suite("What is shown of a configuration")
struct WorkerConfigurationDescriptionTests {
    private let folder: TemporaryFolder
    private let configuration: WorkerConfiguration

    init() throws {
        folder = try TemporaryFolder()
        let properties = try folder.write("sasl.password=canary-1\nssl.key.password=canary-2\n", to: "kafka.properties")
        configuration = try WorkerConfiguration.load(
            file: nil,
            environment: [
                "GRANTOR_KAFKA_PROPERTIES_FILE": properties, "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "kafka:9092",
                "GRANTOR_SHUTDOWN_TIMEOUT": "90",
            ])
    }

    @Test("The table has every key with its value and where that comes from")
    func table() {
        let text = configuration.describe()
        #expect(configuration.lines().map(\.key) == ConfigurationKey.allCases)
        #expect(text.contains("kafka.bootstrapServers"))
        #expect(
            text.split(separator: "\n").contains {
                $0.hasPrefix("shutdownTimeout") && $0.contains("90s") && $0.hasSuffix("environment")
            })
        #expect(
            text.split(separator: "\n").contains {
                $0.hasPrefix("maxInFlight") && $0.contains("1000") && $0.hasSuffix("default")
            })
    }

    @Test("Of properties the names are shown, of secrets nothing, however they are dumped")
    func secrets() {
        var dumped = ""
        dump(configuration, to: &dumped)
        let all = [
            configuration.describe(), dumped, "\(configuration)", String(reflecting: configuration),
            "\(configuration.metadata())",
        ]
        #expect(configuration.describe().contains("sasl.password, ssl.key.password"))
        for text in all { #expect(!text.contains("canary")) }
        #expect(configuration.kafka.properties["sasl.password"]?.value.revealed() == "canary-1")
    }

    @Test("The log line of a start has what differs from the defaults")
    func metadata() {
        #expect(
            Set(configuration.metadata().keys)
                == ["kafka.propertiesFile", "kafka.bootstrapServers", "shutdownTimeout"])
    }
}
