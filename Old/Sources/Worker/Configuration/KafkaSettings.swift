import Kafka

/// Names of the input topic and of the three output topics; no two the same.
struct TopicNames: Hashable, Sendable {
    var submitted = "receipts.submitted"
    var granted = "purchases.granted"
    var failed = "purchases.failed"
    var quarantined = "receipts.quarantined"
}

/// Where the cluster is and what is read and written there.
struct KafkaSettings: Hashable, Sendable {
    /// `host:port`, separated by commas; nil where it is not set, see ``requiredBootstrapServers()``.
    var bootstrapServers: String?
    var groupID = "grantor"
    /// A name for static membership; nil for none, or for the property's.
    var groupInstanceID: String?
    /// How the group divides partitions; nil for what the properties say, and without them for the default.
    var assignmentStrategy: KafkaConsumerConfiguration.Assignor?
    var propertiesFile: String?
    /// What ``propertiesFile`` holds.
    var properties: [String: KafkaProperty] = [:]
    var topics = TopicNames()

    /// The defaults.
    init() {}

    /// Not a secret, unlike other properties, and still theirs to show.
    var shownStrategy: String {
        if let assignmentStrategy { return assignmentStrategy.rawValue }
        let isProperty = properties["partition.assignment.strategy"] != nil
        return isProperty ? "as in \(ConfigurationKey.kafkaPropertiesFile.rawValue)" : "range"
    }

    /// The properties as librdkafka takes them; values may be secret.
    var revealedProperties: [String: String] { properties.mapValues { $0.value.revealed() } }

    /// An error in words; one about a property begins with the file and line that set it.
    func words(_ error: KafkaError) -> String {
        guard let key = error.property, let propertiesFile, let property = properties[key] else { return "\(error)" }
        return "\(propertiesFile):\(property.line): \(error)"
    }

    /// The bootstrap servers, for a command that cannot do without.
    func requiredBootstrapServers() throws(ConfigurationError) -> String {
        guard let bootstrapServers else { throw .missing(.kafkaBootstrapServers) }
        return bootstrapServers
    }
}

extension KafkaSettings {
    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        self.init()
        bootstrapServers = try values.text(.kafkaBootstrapServers)
        if let servers = bootstrapServers {
            guard
                servers.split(separator: ",", omittingEmptySubsequences: false).allSatisfy({
                    HostAndPort.parse($0) != nil
                })
            else {
                throw .invalid(.kafkaBootstrapServers, requirement: "host:port, several separated by commas")
            }
        }
        groupID = try Self.name(values, .kafkaGroupID) ?? groupID
        groupInstanceID = try Self.name(values, .kafkaGroupInstanceID)
        assignmentStrategy = try values.choice(
            .kafkaAssignmentStrategy, KafkaConsumerConfiguration.Assignor.self)
        propertiesFile = try values.text(.kafkaPropertiesFile)
        if let propertiesFile { properties = try PropertiesFile.load(propertiesFile) }
        topics = try TopicNames(values)
    }

    private static let maxNameLength = 255

    private static func name(
        _ values: ConfigurationValues, _ key: ConfigurationKey
    ) throws(ConfigurationError) -> String? {
        guard let name = try values.text(key) else { return nil }
        guard name.utf8.count <= maxNameLength else {
            throw .invalid(key, requirement: "at most \(maxNameLength) bytes long")
        }
        // Two names that differ in what nobody sees are two groups, and the workers of each read everything.
        guard name.first?.isWhitespace == false, name.last?.isWhitespace == false else {
            throw .invalid(key, requirement: "a name that neither begins nor ends with white space")
        }
        guard !name.unicodeScalars.contains(where: \.isInvisible) else {
            throw .invalid(key, requirement: "a name without characters that cannot be seen")
        }
        return name
    }
}

extension TopicNames {
    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        let standard = TopicNames()
        submitted = try Self.topic(values, .topicSubmitted) ?? standard.submitted
        granted = try Self.topic(values, .topicGranted) ?? standard.granted
        failed = try Self.topic(values, .topicFailed) ?? standard.failed
        quarantined = try Self.topic(values, .topicQuarantined) ?? standard.quarantined
        var seen: [String: ConfigurationKey] = [:]
        let named = [
            (submitted, ConfigurationKey.topicSubmitted), (granted, .topicGranted), (failed, .topicFailed),
            (quarantined, .topicQuarantined),
        ]
        for (name, key) in named {
            if let other = seen[name] {
                throw .contradiction(other, key, requirement: "must name different topics")
            }
            seen[name] = key
        }
    }

    /// A name that Kafka accepts: 1 to 249 of letters, digits, `.`, `_` and `-`, and neither `.` nor `..`.
    private static func topic(
        _ values: ConfigurationValues, _ key: ConfigurationKey
    ) throws(ConfigurationError) -> String? {
        guard let name = try values.text(key) else { return nil }
        guard name.utf8.count <= 249, name != ".", name != "..",
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
        else {
            throw .invalid(key, requirement: "a topic name: 1-249 letters, digits, '.', '_' and '-'")
        }
        return name
    }
}
