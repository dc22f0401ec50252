public import AppStore
public import Contract
public import Logging

/// The whole configuration of a worker, read and checked once, before anything starts. Its parts go to those who need
/// them.
///
/// Commands that need one part read only that part from ``SettingValues``. So a mistake elsewhere keeps nobody from
/// looking into a ledger.
public struct WorkerConfiguration: Sendable {
    public let kafka: KafkaSettings
    public let ledger: LedgerSettings
    public let apple: AppleSettings
    public let processing: ProcessingSettings
    /// The address of health and metrics.
    public let http: HostAndPort
    /// Nil where the read-only API is not served.
    public let api: APISettings?
    public let log: LogSettings
    /// The path of the apps file, which is read again while the worker runs.
    public let appsFile: String
    /// The apps as they were when the configuration was read.
    public let apps: ConfiguredApps
    /// All settings in force, without secrets.
    public let lines: [SettingLine]

    /// Reads the settings, the files that they name, and the apps.
    /// - Throws: for the first mistake, with its place.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        kafka = try KafkaSettings(values)
        ledger = try LedgerSettings(values)
        apple = try AppleSettings(values)
        processing = try ProcessingSettings(values)
        http = try values.value(Settings.httpBind)
        api = try APISettings(values)
        log = try LogSettings(values)
        appsFile = try values.value(Settings.appsFile)
        apps = try ConfiguredApps(values)
        lines = try Settings.lines(values)
    }
}

/// The program's version, as `--version` and the ledger's `workers` have it.
public let programVersion = "0.2.0"

/// The cluster and the topics that are read and written there.
public struct KafkaSettings: Hashable, Sendable {
    /// `host:port`, separated by commas.
    public let bootstrapServers: String
    public let groupID: String
    /// A name for static membership; nil for none, or for the property's.
    public let groupInstanceID: String?
    public let propertiesFile: PropertiesFile?
    public let topics: TopicNames

    /// Reads the part of the configuration that concerns Kafka, and the file of properties.
    /// - Throws: for the first mistake, with its place.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        bootstrapServers = try values.value(Settings.bootstrapServers)
        groupID = try values.value(Settings.groupID)
        let instance = try values.value(Settings.groupInstanceID)
        groupInstanceID = instance == Settings.hostname ? HostName.current : instance
        propertiesFile = try values.value(Settings.propertiesFile)
        topics = try TopicNames(values)
    }

    /// The properties as librdkafka takes them. Values may be secret.
    public var revealedProperties: [String: String] {
        propertiesFile?.properties.mapValues { $0.value.revealed() } ?? [:]
    }
}

/// The names of the topics; no two are the same.
public struct TopicNames: Hashable, Sendable {
    private let names: [Topic: String]

    /// - Throws: for a name that no topic can have, and for two topics with one name.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        let given: [(topic: Topic, setting: SettingName, name: String?)] = [
            (.submitted, Settings.submittedTopic.name, try values.value(Settings.submittedTopic)),
            (.granted, Settings.grantedTopic.name, try values.value(Settings.grantedTopic)),
            (.failed, Settings.failedTopic.name, try values.value(Settings.failedTopic)),
            (.pending, Settings.pendingTopic.name, try values.value(Settings.pendingTopic)),
            (.quarantined, Settings.quarantinedTopic.name, try values.value(Settings.quarantinedTopic)),
        ]
        var names: [Topic: String] = [:]
        for (topic, setting, name) in given {
            guard let name else { continue }
            if let other = given.first(where: { names[$0.topic] == name }) {
                throw .contradiction(
                    values.place(other.setting), values.place(setting), problem: "must name different topics")
            }
            names[topic] = name
        }
        self.names = names
    }

    /// The topics that have a name; all but that of pending events have one always.
    public var inUse: [Topic] { Topic.allCases.filter { names[$0] != nil } }

    /// - Returns: the name; of a topic that has none, the usual one.
    public subscript(_ topic: Topic) -> String { names.name(of: topic) }
}

public struct AppleSettings: Sendable {
    public let verifyReceiptProductionURL: String
    public let verifyReceiptSandboxURL: String
    /// The base, without `/inApps` and without a slash at its end.
    public let serverAPIProductionURL: String
    /// The base, without `/inApps` and without a slash at its end.
    public let serverAPISandboxURL: String
    public let proxy: ProxyURL?
    /// The authorities that TLS connections are checked against; nil for the system's.
    public let caFile: CertificateFile?
    /// The root certificates that signed data must chain to.
    public let roots: TrustedRoots
    /// For looking up the name, TCP and TLS together.
    public let connectTimeout: Duration
    /// For a whole request, connecting included; never shorter than ``connectTimeout``.
    public let timeout: Duration

    /// - Throws: for a value of another form, for two that contradict each other, and for roots that cannot be read.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        verifyReceiptProductionURL = try values.value(Settings.verifyReceiptProductionURL)
        verifyReceiptSandboxURL = try values.value(Settings.verifyReceiptSandboxURL)
        serverAPIProductionURL = try values.value(Settings.serverAPIProductionURL)
        serverAPISandboxURL = try values.value(Settings.serverAPISandboxURL)
        proxy = try values.value(Settings.appleProxy)
        caFile = try values.value(Settings.appleCAFile)
        if let certificates = try values.value(Settings.rootCertificates) {
            roots = certificates.roots
        } else {
            roots = try RootCertificates.apple(namedBy: values.place(Settings.rootCertificates.name)).roots
        }
        connectTimeout = try values.value(Settings.connectTimeout)
        timeout = try values.value(Settings.timeout)
        func contradict(
            _ one: some SettingRow, _ other: some SettingRow, _ problem: String
        ) -> ConfigurationError {
            .contradiction(values.place(one.name), values.place(other.name), problem: problem)
        }
        guard connectTimeout <= timeout else {
            throw contradict(Settings.connectTimeout, Settings.timeout, "contradict: connecting is a part of the whole")
        }
        // A sandbox receipt that production's endpoint is asked about twice would never be decided.
        guard Self.comparable(verifyReceiptProductionURL) != Self.comparable(verifyReceiptSandboxURL) else {
            throw contradict(
                Settings.verifyReceiptProductionURL, Settings.verifyReceiptSandboxURL, "must be different endpoints")
        }
        guard Self.comparable(serverAPIProductionURL) != Self.comparable(serverAPISandboxURL) else {
            throw contradict(
                Settings.serverAPIProductionURL, Settings.serverAPISandboxURL, "must be different endpoints")
        }
    }

    /// Two spellings that reach one endpoint are equal in it.
    private static func comparable(_ url: String) -> String {
        var text = url.lowercased()
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}

/// How much is under way at once, and for how long.
public struct ProcessingSettings: Hashable, Sendable {
    public let maxCalls: Int
    /// Most bytes of records that are read and not complete.
    public let maxInFlightBytes: Int
    /// Most bytes of submissions that wait in the ledger for another try.
    public let maxRetryBytes: Int
    /// How long a reply of Apple's that may not be its last word is asked about again.
    public let doubtLimit: Duration
    /// How long answers stay in the ledger; nil for ever.
    public let keepAnswers: Duration?
    /// How long a stop in order may take before the rest is left for the next start.
    public let shutdownTimeout: Duration

    init(_ values: SettingValues) throws(ConfigurationError) {
        maxCalls = try values.value(Settings.maxCalls)
        maxInFlightBytes = try values.value(Settings.maxInFlightBytes)
        maxRetryBytes = try values.value(Settings.maxRetryBytes)
        doubtLimit = try values.value(Settings.doubtLimit)
        keepAnswers = try values.value(Settings.keepAnswers)
        shutdownTimeout = try values.value(Settings.shutdownTimeout)
    }

    /// Whether old answers are deleted.
    public var prunes: Bool { keepAnswers != nil }
}

/// Where the read-only API is served, and who may ask it.
public struct APISettings: Hashable, Sendable {
    public let bind: HostAndPort
    public let tokensFile: TokensFile

    public init(bind: HostAndPort, tokensFile: TokensFile) {
        self.bind = bind
        self.tokensFile = tokensFile
    }

    /// Nil where it is not served.
    init?(_ values: SettingValues) throws(ConfigurationError) {
        let places = (values.place(Settings.apiBind.name), values.place(Settings.apiTokensFile.name))
        switch (try values.value(Settings.apiBind), try values.value(Settings.apiTokensFile)) {
        case (let bind?, let tokensFile?): self.init(bind: bind, tokensFile: tokensFile)
        case (nil, nil): return nil
        default: throw .contradiction(places.0, places.1, problem: "are set together, or not at all")
        }
    }
}

/// How the worker's log is written.
public struct LogSettings: Hashable, Sendable {
    public let level: Logger.Level
    public let format: LineLogHandler.Format

    /// - Throws: for a value of another form.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        level = try values.value(Settings.logLevel)
        format = try values.value(Settings.logFormat)
    }
}

extension LedgerSettings {
    /// - Throws: for a URL of another form, and for a file of a password beside the URL of a file of SQLite's.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        self = try values.value(Settings.ledgerURL)
        guard let file = try values.value(Settings.ledgerPasswordFile) else { return }
        guard case .postgres(var url) = self else {
            throw .contradiction(
                values.place(Settings.ledgerURL.name), values.place(Settings.ledgerPasswordFile.name),
                problem: "contradict: a file of SQLite's has no password")
        }
        url.password = PasswordFile(path: file, place: values.place(Settings.ledgerPasswordFile.name))
        self = .postgres(url)
    }
}

extension HostAndPort {
    /// Where a worker serves health and metrics.
    public init(ofProbes values: SettingValues) throws(ConfigurationError) {
        self = try values.value(Settings.httpBind)
    }
}
