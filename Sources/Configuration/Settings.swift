import CommandParser
import Contract
import Logging

/// The one table of settings. Loading, `grantor check` and the table in docs/configuration.md come from it.
enum Settings {
    /// In the order of the documentation.
    static let all: [any SettingRow] =
        [bootstrapServers, groupID, groupInstanceID, propertiesFile] + topics
        + [
            ledgerURL, ledgerPasswordFile, appsFile, maxCalls, maxInFlightBytes, maxRetryBytes, doubtLimit,
            keepAnswers, shutdownTimeout, httpBind, apiBind, apiTokensFile, logLevel, logFormat,
            verifyReceiptProductionURL,
            verifyReceiptSandboxURL,
            serverAPIProductionURL, serverAPISandboxURL, appleProxy, appleCAFile, rootCertificates, connectTimeout,
            timeout,
        ]

    // MARK: Kafka

    static let bootstrapServers = Setting.required(
        "kafka.bootstrapServers", .servers, "`host:port`, several separated by commas")
    static let groupID = Setting("kafka.groupId", .name, default: "grantor", "workers of one group share the work")
    static let groupInstanceID = Setting.optional(
        "kafka.groupInstanceId", .name, absent: "none",
        "a name for static membership, another for each worker, or `hostname`, see [below](#static-membership)")
    /// Stands for the host's name, such as a container's.
    static let hostname = "hostname"
    static let propertiesFile = Setting.file(
        "kafka.propertiesFile", absent: "none", "librdkafka properties, see [below](#kafka-properties)",
        read: PropertiesFile.read, show: \.shown)

    static let submittedTopic = topic(.submitted, "the input; no two topics may be the same")
    static let grantedTopic = topic(.granted, "granted purchases")
    static let failedTopic = topic(.failed, "submissions that will not be granted")
    static let pendingTopic = Setting.optional(
        "topic.pending", .topic, absent: "none",
        "submissions that wait, and why; without a name nobody is told, `\(Topic.pending.defaultName)` is usual")
    static let quarantinedTopic = topic(
        .quarantined, "records of the input that name no submission or no user")
    private static let topics: [any SettingRow] = [
        submittedTopic, grantedTopic, failedTopic, pendingTopic, quarantinedTopic,
    ]

    private static func topic(_ topic: Topic, _ help: String) -> Setting<String> {
        Setting("topic.\(topic.rawValue)", .topic, default: topic.defaultName, help)
    }

    // MARK: Worker

    static let ledgerURL = Setting.required(
        "ledger.url", .ledger,
        "`sqlite:` and the path of a file on a local disk, or `postgres://` and a database, see [below](#ledger)")
    static let ledgerPasswordFile = Setting.optional(
        "ledger.passwordFile", .path, absent: "none",
        "a file with PostgreSQL's password and nothing else, read at each connect")
    static let appsFile = Setting.required("appsFile", .path, "the apps and their rules, see [below](#apps-file)")
    static let maxCalls = Setting(
        "maxCalls", .integer(1...10_000), default: 1000, "most calls to Apple at once, 1 to 10000")
    static let maxInFlightBytes = Setting(
        "maxInFlightBytes", .bytes((1 << 20)...(4 << 30)),
        documented: "`12KiB` for each of `maxCalls`, at least `8MiB`",
        default: { values throws(ConfigurationError) in inFlightBytes(maxCalls: try values.value(maxCalls)) },
        "most bytes of records that are read and not complete, `1MiB` to `4GiB`")
    static let maxRetryBytes = Setting(
        "maxRetryBytes", .bytes((1 << 20)...(1 << 40)), default: 1 << 30,
        "most bytes of submissions that wait in the ledger for another try, `1MiB` to `1024GiB`; at the bound "
            + "reading stops")
    static let doubtLimit = Setting(
        "doubtLimit", .duration(.zero ... .seconds(30 * 86_400)), default: .seconds(6 * 3600),
        "how long a reply of Apple's that may not be its last word is asked about again before it counts, up to "
            + "`30d`")
    static let keepAnswers = Setting.optional(
        "keepAnswers", .answerAge, absent: "for ever",
        "how long failures and repeats stay in the ledger, such as `90d`; at least `1d`, see "
            + "[procedures.md](procedures.md#delete-old-answers). Grants stay for ever")
    static let shutdownTimeout = Setting(
        "shutdownTimeout", .duration(.seconds(1) ... .seconds(600)), default: .seconds(20),
        "how long finishing may take at a stop, `1s` to `10m`. Kafka's clients may take 9 s more to end, and beside "
            + "them a call to a ledger that does not answer 20 s. The platform waits 25 s longer before it kills")
    static let httpBind = Setting(
        "http.bind", .bind, default: HostAndPort(host: "127.0.0.1", port: 8080),
        "address of `/livez`, `/readyz` and `/metrics`; `[::1]:8080` for IPv6, port 0 for any free one. "
            + "With port 0 `grantor health` cannot ask, and ends with 78")
    static let apiBind = Setting.optional(
        "api.bind", .bind, absent: "off",
        "address of the read-only API, see [support.md](support.md); needs `api.tokensFile`")
    static let apiTokensFile = Setting.file(
        "api.tokensFile", absent: "none",
        "the bearer tokens that may ask the read-only API, one a line: letters, digits and `-._~+/=`, 32 to 256 of "
            + "them. At most 100, in 64 KiB; blank lines and those that begin with `#` do not count. It is read again "
            + "when it changes",
        read: TokensFile.read, show: \.path)
    static let logLevel = Setting(
        "log.level", .choice, default: Logger.Level.info,
        Logger.Level.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "))
    static let logFormat = Setting(
        "log.format", .choice, default: LineLogHandler.Format.json,
        "`json`: one object per line; `text`: for people")

    // MARK: Apple

    static let verifyReceiptProductionURL = Setting(
        "verifyReceipt.productionUrl", .httpsURL, default: "https://buy.itunes.apple.com/verifyReceipt",
        "the whole URL, https only")
    static let verifyReceiptSandboxURL = Setting(
        "verifyReceipt.sandboxUrl", .httpsURL, default: "https://sandbox.itunes.apple.com/verifyReceipt",
        "the whole URL, https only")
    // The hosts that Apple recommends since 2026-05-05; the older ones, of itunes.apple.com, reply alike.
    static let serverAPIProductionURL = Setting(
        "serverAPI.productionUrl", .serverAPIBase, default: "https://api.storekit.apple.com",
        "the base, without `/inApps`, https only; the older `https://api.storekit.itunes.apple.com` answers alike")
    static let serverAPISandboxURL = Setting(
        "serverAPI.sandboxUrl", .serverAPIBase, default: "https://api.storekit-sandbox.apple.com",
        "the base, without `/inApps`, https only")
    static let appleProxy = Setting.optional(
        "apple.proxy", .proxy, absent: "none",
        "an HTTP proxy for calls to Apple and for nothing else, such as `http://proxy.example.com:3128`. User name "
            + "and password may stand in it and are never shown")
    static let appleCAFile = Setting.file(
        "apple.caFile", absent: "the system's",
        "PEM file of the only authorities that TLS connections to Apple are checked against",
        read: CertificateFile.read, show: \.path)
    static let rootCertificates = Setting.file(
        "apple.rootCertificates", absent: "Apple's, built in",
        "PEM file of the only roots that signed transactions and receipts may chain to: for a simulator, never for "
            + "production. Built in are Apple Root CA - G3 and Apple Root CA",
        read: RootCertificates.read, show: { $0.path ?? "" })
    static let connectTimeout = Setting(
        "apple.connectTimeout", .duration(.milliseconds(100) ... .seconds(60)), default: .seconds(3),
        "name look-up, TCP and TLS together, `100ms` to `1m`")
    static let timeout = Setting(
        "apple.timeout", .duration(.seconds(1) ... .seconds(120)), default: .seconds(20),
        "a whole request, `1s` to `2m`, and not below `apple.connectTimeout`")

    /// Each call has 12 KiB: enough for receipts of 8 KB with all calls under way, and some receipts read ahead. Larger
    /// ones take fewer calls at once, and no more memory. The least value of 8 MiB holds a single submission of any
    /// size.
    private static func inFlightBytes(maxCalls: Int) -> Int { max(8 << 20, maxCalls * (12 << 10)) }
}

extension Settings {
    /// All settings in force, in the order of the table.
    static func lines(_ values: SettingValues) throws(ConfigurationError) -> [SettingLine] {
        var lines: [SettingLine] = []
        for row in all {
            lines.append(SettingLine(name: row.name, value: try row.shown(values), source: values.source(row.name)))
        }
        return lines
    }
}

extension SettingValues {
    /// Takes a process's variables and the texts of a file under them. No file that these name is read yet.
    /// - Parameters:
    ///   - file: path of the YAML file; nil for none.
    ///   - environment: all variables of the process; only those that begin with `GRANTOR_` count.
    /// - Throws: for a file that cannot be read, and for names that set nothing.
    public static func load(
        file: String?, environment: [String: String]
    ) throws(ConfigurationError) -> SettingValues {
        var fileValues: [String: FileValue] = [:]
        if let file { try flatten(YAMLMapping(file: file, namedBy: nil), prefix: "", into: &fileValues) }
        return SettingValues(environment: try own(environment), fileValues: fileValues)
    }

    private static func flatten(
        _ mapping: YAMLMapping, prefix: String, into values: inout [String: FileValue]
    ) throws(ConfigurationError) {
        for name in mapping.names {
            let key = prefix + name
            if name.contains(".") {
                throw .unknownMember(mapping.place(name))
            } else if Settings.all.contains(where: { $0.name.key == key }) {
                guard let text = try mapping.text(name) else { continue }
                values[key] = FileValue(text: text, place: mapping.place(name))
            } else if Settings.all.contains(where: { $0.name.key.hasPrefix(key + ".") }) {
                guard let section = try mapping.mapping(name) else { continue }
                try flatten(section, prefix: key + ".", into: &values)
            } else {
                throw .unknownMember(mapping.place(name))
            }
        }
    }

    /// Picks the `GRANTOR_` variables out; one that sets nothing is an error.
    ///
    /// Leaves out the variables that Kubernetes sets for a service called `grantor` or `grantor-...`. It sets variables
    /// for each service of a namespace, named after it.
    private static func own(_ environment: [String: String]) throws(ConfigurationError) -> [String: String] {
        let known = Set(Settings.all.map(\.name.environmentName))
        let own = environment.filter { name, value in
            name.hasPrefix(SettingName.environmentPrefix) && (known.contains(name) || !isServiceLink(name, value))
        }
        for name in own.keys.sorted() where !known.contains(name) { throw .unknownVariable(name) }
        return own
    }

    /// Whether a variable is of the forms that Kubernetes makes up for a service, as of
    /// <https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>. A variable that ends
    /// with `_PORT` could be a setting, so its value has to be an address of a protocol as well.
    private static func isServiceLink(_ name: String, _ value: String) -> Bool {
        let port = /.+_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?/
        let address = ["tcp://", "udp://", "sctp://"].contains { value.hasPrefix($0) }
        let service = /.+_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)/
        return name.hasSuffix("_PORT") && address || name.wholeMatch(of: port) != nil
            || name.wholeMatch(of: service) != nil
    }
}
