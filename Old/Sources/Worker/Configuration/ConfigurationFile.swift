/// The YAML file under the environment variables, flattened to keys and texts.
struct ConfigurationFile: Sendable {
    static let maxBytes = 256 << 10

    let path: String
    /// Every key that the file sets.
    let values: [ConfigurationKey: String]
    /// Where it sets them.
    let places: [ConfigurationKey: ConfigurationError.Place]

    /// Reads a file; a name that is no key is an error, and so is a list or a mapping where a value is due.
    static func load(_ path: String) throws(ConfigurationError) -> ConfigurationFile {
        try parse(try TextFile.read(path, maxBytes: maxBytes, namedBy: .commandLine), path: path)
    }

    static func parse(_ text: String, path: String) throws(ConfigurationError) -> ConfigurationFile {
        var values: [ConfigurationKey: String] = [:]
        var places: [ConfigurationKey: ConfigurationError.Place] = [:]
        try flatten(try YAMLMapping(document: text, file: path), prefix: "", into: &values, &places)
        return ConfigurationFile(path: path, values: values, places: places)
    }

    private static func flatten(
        _ mapping: YAMLMapping, prefix: String, into values: inout [ConfigurationKey: String],
        _ places: inout [ConfigurationKey: ConfigurationError.Place]
    ) throws(ConfigurationError) {
        for name in mapping.names {
            let key = prefix + name
            if let known = ConfigurationKey(rawValue: key) {
                // A key can be written as one dotted name and as levels of nesting; not as both.
                guard values[known] == nil else { throw .duplicateMember(mapping.place(name)) }
                values[known] = try mapping.text(name)
                places[known] = mapping.place(name)
            } else if ConfigurationKey.allCases.contains(where: { $0.rawValue.hasPrefix(key + ".") }) {
                guard let section = try mapping.mapping(name) else { continue }
                try flatten(section, prefix: key + ".", into: &values, &places)
            } else {
                let suggestion = Suggestion.nearest(to: key, among: ConfigurationKey.allCases.map(\.rawValue))
                throw .unknownMember(mapping.place(name), suggestion: suggestion)
            }
        }
    }
}
