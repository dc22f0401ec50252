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
            ("topic.quarantined", "GRANTOR_TOPIC_QUARANTINED"), ("ledger.url", "GRANTOR_LEDGER_URL"),
            ("appsFile", "GRANTOR_APPS_FILE"), ("maxCalls", "GRANTOR_MAX_CALLS"),
            ("maxInFlightBytes", "GRANTOR_MAX_IN_FLIGHT_BYTES"), ("maxRetryBytes", "GRANTOR_MAX_RETRY_BYTES"),
            ("doubtLimit", "GRANTOR_DOUBT_LIMIT"), ("shutdownTimeout", "GRANTOR_SHUTDOWN_TIMEOUT"),
            ("http.bind", "GRANTOR_HTTP_BIND"), ("log.level", "GRANTOR_LOG_LEVEL"),
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
        #expect(Set(keys).count == 27 && keys.count == 27)
        #expect(Set(Settings.all.map(\.name.environmentName)).count == keys.count)
        for key in keys { #expect(!keys.contains { $0.hasPrefix(key + ".") }) }
    }

    @Test("The documentation has the table as it is")
    func documentation() throws {
        let page = try Repository.text("docs/configuration.md")
        #expect(page.contains(Settings.markdown), "docs/configuration.md must contain:\n\(Settings.markdown)")
    }
}
