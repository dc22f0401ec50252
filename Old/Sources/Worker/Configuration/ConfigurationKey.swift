/// Everything that can be configured. The raw value is the key in the YAML file; a dot is a level of nesting.
///
/// The variable's name follows from it: `GRANTOR_`, upper case, `_` between words (``environmentName``). A variable wins
/// over the file.
///
/// | key in the file | type | default | |
/// |---|---|---|---|
/// | `kafka.bootstrapServers` | `host:port`, by commas | | required for `run` |
/// | `kafka.groupId` | text | `grantor` | |
/// | `kafka.groupInstanceId` | text | | a name for static membership |
/// | `kafka.assignmentStrategy` | `range`, `roundrobin`, `cooperative-sticky` | `range` | |
/// | `kafka.propertiesFile` | path | | librdkafka properties, values are secret |
/// | `topic.submitted` | topic | `receipts.submitted` | |
/// | `topic.granted` | topic | `purchases.granted` | |
/// | `topic.failed` | topic | `purchases.failed` | |
/// | `topic.quarantined` | topic | `receipts.quarantined` | |
/// | `ledger.url` | `sqlite:PATH`, `postgres:` URL | `sqlite:grantor.db` | |
/// | `appsFile` | path | | required for `run` |
/// | `maxInFlight` | 1 ... 10000 | `1000` | |
/// | `maxWindowBytes` | 1 MiB ... 4 GiB, in bytes | 18432 for each of `maxInFlight`, `8388608` at least | |
/// | `notFoundWindow` | 0s ... 30d | `6h` | |
/// | `maxSubmissionAge` | 1h ... 365d | never | |
/// | `shutdownTimeout` | 1s ... 10m | `20s` | |
/// | `http.bind` | `host:port` | `127.0.0.1:8080` | |
/// | `log.level` | a level | `info` | |
/// | `log.format` | `json`, `text` | `json` | |
/// | `verifyReceipt.productionUrl` | https URL | Apple's | the whole URL |
/// | `verifyReceipt.sandboxUrl` | https URL | Apple's | the whole URL |
/// | `serverAPI.productionUrl` | https URL | Apple's | the base, without `/inApps` |
/// | `serverAPI.sandboxUrl` | https URL | Apple's | the base, without `/inApps` |
/// | `apple.caFile` | path | the system's | PEM, for TLS connections |
/// | `apple.rootCertificates` | path | Apple's, built in | PEM, for signed data |
/// | `apple.connectTimeout` | 100ms ... 1m | `3s` | |
/// | `apple.timeout` | 1s ... 2m | `20s` | |
enum ConfigurationKey: String, CaseIterable, Sendable {
    case kafkaBootstrapServers = "kafka.bootstrapServers"
    case kafkaGroupID = "kafka.groupId"
    case kafkaGroupInstanceID = "kafka.groupInstanceId"
    case kafkaAssignmentStrategy = "kafka.assignmentStrategy"
    case kafkaPropertiesFile = "kafka.propertiesFile"
    case topicSubmitted = "topic.submitted"
    case topicGranted = "topic.granted"
    case topicFailed = "topic.failed"
    case topicQuarantined = "topic.quarantined"
    case ledgerURL = "ledger.url"
    case appsFile
    case maxInFlight
    case maxWindowBytes
    case notFoundWindow
    case maxSubmissionAge
    case shutdownTimeout
    case httpBind = "http.bind"
    case logLevel = "log.level"
    case logFormat = "log.format"
    case verifyReceiptProductionURL = "verifyReceipt.productionUrl"
    case verifyReceiptSandboxURL = "verifyReceipt.sandboxUrl"
    case serverAPIProductionURL = "serverAPI.productionUrl"
    case serverAPISandboxURL = "serverAPI.sandboxUrl"
    case appleCAFile = "apple.caFile"
    case appleRootCertificates = "apple.rootCertificates"
    case appleConnectTimeout = "apple.connectTimeout"
    case appleTimeout = "apple.timeout"

    /// What every variable of this program begins with.
    static let environmentPrefix = "GRANTOR_"

    /// The environment variable that sets it.
    var environmentName: String {
        var name = Self.environmentPrefix
        var previous: Character = "."
        for character in rawValue {
            if character.isUppercase, previous.isLowercase { name.append("_") }
            name.append(character == "." ? "_" : Character(character.uppercased()))
            previous = character
        }
        return name
    }
}
