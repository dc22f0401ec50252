import Testing

@testable import Worker

@Suite("Configuration keys")
struct ConfigurationKeyTests {
    @Test(
        "A variable's name follows from the key",
        arguments: [
            (ConfigurationKey.kafkaBootstrapServers, "GRANTOR_KAFKA_BOOTSTRAP_SERVERS"),
            (.kafkaGroupID, "GRANTOR_KAFKA_GROUP_ID"),
            (.kafkaGroupInstanceID, "GRANTOR_KAFKA_GROUP_INSTANCE_ID"),
            (.kafkaAssignmentStrategy, "GRANTOR_KAFKA_ASSIGNMENT_STRATEGY"),
            (.kafkaPropertiesFile, "GRANTOR_KAFKA_PROPERTIES_FILE"),
            (.topicSubmitted, "GRANTOR_TOPIC_SUBMITTED"), (.topicQuarantined, "GRANTOR_TOPIC_QUARANTINED"),
            (.ledgerURL, "GRANTOR_LEDGER_URL"), (.appsFile, "GRANTOR_APPS_FILE"),
            (.maxInFlight, "GRANTOR_MAX_IN_FLIGHT"), (.maxWindowBytes, "GRANTOR_MAX_WINDOW_BYTES"),
            (.notFoundWindow, "GRANTOR_NOT_FOUND_WINDOW"), (.shutdownTimeout, "GRANTOR_SHUTDOWN_TIMEOUT"),
            (.maxSubmissionAge, "GRANTOR_MAX_SUBMISSION_AGE"),
            (.httpBind, "GRANTOR_HTTP_BIND"), (.logLevel, "GRANTOR_LOG_LEVEL"), (.logFormat, "GRANTOR_LOG_FORMAT"),
            (.verifyReceiptProductionURL, "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL"),
            (.verifyReceiptSandboxURL, "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL"),
            (.serverAPIProductionURL, "GRANTOR_SERVER_API_PRODUCTION_URL"),
            (.serverAPISandboxURL, "GRANTOR_SERVER_API_SANDBOX_URL"), (.appleCAFile, "GRANTOR_APPLE_CA_FILE"),
            (.appleRootCertificates, "GRANTOR_APPLE_ROOT_CERTIFICATES"),
        ])
    func environmentNames(key: ConfigurationKey, name: String) {
        #expect(key.environmentName == name)
    }

    @Test(
        "Every key is read under its variable's name and under its key in the file",
        arguments: ConfigurationKey.allCases)
    func readUnderBothNames(key: ConfigurationKey) throws {
        let nested = key.rawValue.split(separator: ".").enumerated()
            .map { String(repeating: "  ", count: $0) + $1 + ":" }.joined(separator: "\n")
        let file = try ConfigurationFile.parse(nested + " from-file", path: "grantor.yaml")
        #expect(try ConfigurationValues(environment: [:], file: file).text(key) == "from-file")
        let environment = [key.environmentName: "from-environment"]
        #expect(try ConfigurationValues(environment: environment, file: file).text(key) == "from-environment")
    }

    @Test("Every key is documented under both names", arguments: ConfigurationKey.allCases)
    func documented(key: ConfigurationKey) throws {
        let page = try Repository.text("docs/configuration.md")
        #expect(page.contains("`\(key.environmentName)`"))
        #expect(page.contains("`\(key.rawValue)`"))
    }
}
