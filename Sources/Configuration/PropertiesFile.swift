/// librdkafka properties of a file: `key=value` lines. Empty lines and lines that begin with `#` say nothing.
///
/// Everything after the first `=` is the value, without white space around it. Values count as secret: errors name the
/// line and the key only.
public struct PropertiesFile: Hashable, Sendable {
    static let maxBytes = 64 << 10
    static let maxProperties = 200

    /// A property's value and the line that sets it.
    public struct Property: Hashable, Sendable {
        public let value: SecretText
        public let line: Int
    }

    public let path: String
    public let properties: [String: Property]

    static func read(_ path: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        // There are passwords among them, and librdkafka would read a value up to a NUL byte.
        try PropertiesFile(TextFile.readPlain(path, maxBytes: maxBytes, namedBy: place), path: path)
    }

    init(_ text: String, path: String) throws(ConfigurationError) {
        var properties: [String: Property] = [:]
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = Self.trimmed(raw)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            func refused(_ problem: String) -> ConfigurationError {
                .syntax(file: path, line: index + 1, problem: problem)
            }
            guard let equals = line.firstIndex(of: "=") else { throw refused("must be key=value") }
            let key = String(Self.trimmed(line[..<equals]))
            // A text that is no key may be a piece of a value, so it is not shown.
            guard Self.isKey(key) else {
                throw refused("the key must be of lower-case letters, digits, '.', '_' and '-'")
            }
            if let problem = Self.problem(of: key) { throw refused(problem) }
            guard properties[key] == nil else { throw refused("\(key) is set twice") }
            guard properties.count < Self.maxProperties else {
                throw refused("more than \(Self.maxProperties) properties")
            }
            let value = SecretText(String(Self.trimmed(line[line.index(after: equals)...])))
            properties[key] = Property(value: value, line: index + 1)
        }
        self.path = path
        self.properties = properties
    }

    /// The file and the names of its properties.
    var shown: String {
        let names = properties.keys.sorted().joined(separator: ", ")
        return names.isEmpty ? path : "\(path): \(names)"
    }

    /// Where a property is set, as `file:line`; nil if it is not.
    public func place(of key: String) -> String? { properties[key].map { "\(path):\($0.line)" } }

    /// Properties that have settings of their own.
    private static func problem(of key: String) -> String? {
        switch key {
        case "bootstrap.servers", "metadata.broker.list": "\(key) is set by \(SettingName("kafka.bootstrapServers"))"
        case "group.id": "\(key) is set by \(SettingName("kafka.groupId"))"
        default: nil
        }
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
