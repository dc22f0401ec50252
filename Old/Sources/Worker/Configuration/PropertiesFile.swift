/// A librdkafka property of a file.
struct KafkaProperty: Hashable, Sendable {
    let value: SecretText
    let line: Int
}

/// librdkafka properties in a file: `key=value` lines; empty lines and lines that begin with `#` mean nothing.
///
/// Everything after the first `=` is the value, without white space around it. Values are secret: a message names the
/// line and the key only.
enum PropertiesFile {
    static let maxBytes = 64 << 10
    static let maxProperties = 200

    /// Properties that have a key of their own in the configuration.
    private static let owned: [String: ConfigurationKey] = [
        "bootstrap.servers": .kafkaBootstrapServers, "metadata.broker.list": .kafkaBootstrapServers,
        "group.id": .kafkaGroupID,
    ]

    /// Reads a file of properties.
    static func load(_ path: String) throws(ConfigurationError) -> [String: KafkaProperty] {
        // There are passwords among them, and librdkafka would read a value up to a NUL byte.
        try parse(TextFile.readPlain(path, maxBytes: maxBytes, namedBy: .key(.kafkaPropertiesFile)), file: path)
    }

    static func parse(_ text: String, file: String) throws(ConfigurationError) -> [String: KafkaProperty] {
        var properties: [String: KafkaProperty] = [:]
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = trimmed(raw)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            func refused(_ problem: String) -> ConfigurationError {
                .syntax(file: file, line: index + 1, problem: problem)
            }
            guard let equals = line.firstIndex(of: "=") else { throw refused("must be key=value") }
            let key = String(trimmed(line[..<equals]))
            // Whatever is no key may be a piece of a value, so it is not shown.
            guard isKey(key) else { throw refused("the key must be of lower-case letters, digits, '.', '_' and '-'") }
            if let owner = owned[key] { throw refused("\(key) is set by \(owner.places)") }
            guard properties[key] == nil else { throw refused("\(key) is set twice") }
            guard properties.count < maxProperties else { throw refused("more than \(maxProperties) properties") }
            let value = SecretText(String(trimmed(line[line.index(after: equals)...])))
            properties[key] = KafkaProperty(value: value, line: index + 1)
        }
        return properties
    }

    private static func isKey(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || "._-".contains($0)) }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }) else { return "" }
        return text[first...(text.lastIndex { !$0.isWhitespace } ?? first)]
    }
}
