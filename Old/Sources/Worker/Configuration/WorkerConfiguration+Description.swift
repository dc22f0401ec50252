import Logging

/// One configured value as it may be shown.
struct ConfigurationLine: Hashable, Sendable {
    let key: ConfigurationKey
    /// The effective value; of secrets only that there are some.
    let shown: String
    let source: ConfigurationSource
}

extension WorkerConfiguration {
    /// The effective configuration, one line per key in the order of the table, without secrets.
    func lines() -> [ConfigurationLine] {
        ConfigurationKey.allCases.map { ConfigurationLine(key: $0, shown: shown($0), source: source($0)) }
    }

    /// ``lines()`` as an aligned table for people.
    func describe() -> String {
        TextTable(
            header: ["KEY", "VALUE", "FROM"],
            rows: lines().map { [$0.key.rawValue, $0.shown, $0.source.rawValue] }
        ).text()
    }

    /// ``lines()`` that differ from the defaults, for the log line of a start.
    func metadata() -> Logger.Metadata {
        let set = lines().filter { $0.source != .default }
        return Logger.Metadata(uniqueKeysWithValues: set.map { ($0.key.rawValue, .string($0.shown)) })
    }

    private func shown(_ key: ConfigurationKey) -> String {
        switch key {
        case .kafkaBootstrapServers: kafka.bootstrapServers ?? "not set"
        case .kafkaGroupID: kafka.groupID
        case .kafkaGroupInstanceID: kafka.groupInstanceID ?? "not set"
        case .kafkaAssignmentStrategy: kafka.shownStrategy
        case .kafkaPropertiesFile: shownProperties
        case .topicSubmitted: kafka.topics.submitted
        case .topicGranted: kafka.topics.granted
        case .topicFailed: kafka.topics.failed
        case .topicQuarantined: kafka.topics.quarantined
        case .ledgerURL: "\(ledger)"
        case .appsFile: appsFile ?? "not set"
        case .maxInFlight: String(verification.maxInFlight)
        case .maxWindowBytes: String(verification.maxWindowBytes)
        case .notFoundWindow: DurationText.format(verification.notFoundWindow)
        case .maxSubmissionAge: verification.maxSubmissionAge.map { DurationText.format($0) } ?? "never"
        case .shutdownTimeout: DurationText.format(verification.shutdownTimeout)
        case .httpBind: http.description
        case .logLevel: log.level.rawValue
        case .logFormat: log.format.rawValue
        case .verifyReceiptProductionURL: apple.verifyReceiptProductionURL
        case .verifyReceiptSandboxURL: apple.verifyReceiptSandboxURL
        case .serverAPIProductionURL: apple.serverAPIProductionURL
        case .serverAPISandboxURL: apple.serverAPISandboxURL
        case .appleCAFile: apple.caFile ?? "the system's"
        case .appleRootCertificates: apple.rootCertificatesFile ?? "Apple's, built in"
        case .appleConnectTimeout: DurationText.format(apple.connectTimeout)
        case .appleTimeout: DurationText.format(apple.timeout)
        }
    }

    /// The file and the properties' names; all their values count as secret.
    private var shownProperties: String {
        guard let file = kafka.propertiesFile else { return "not set" }
        let names = kafka.properties.keys.sorted().joined(separator: ", ")
        return names.isEmpty ? file : "\(file): \(names)"
    }
}
