/// Where the value of a setting comes from.
public enum SettingSource: String, Hashable, Sendable {
    case environment
    case file
    case `default`
}

/// The texts that settings are set to, environment over file.
public struct SettingValues: Sendable {
    private struct FileValue: Sendable {
        let text: String
        let place: ConfigurationError.Place
    }

    private let environment: [String: String]
    private let fileValues: [String: FileValue]

    /// Takes a process's variables and the texts of a file under them. No file that these name is read yet.
    ///
    /// - Parameters:
    ///   - file: path of the YAML file; nil for none.
    ///   - environment: all variables of the process; only those that begin with `GRANTOR_` count.
    /// - Throws: for a file that cannot be read, and for names that set nothing.
    public static func load(
        file: String?, environment: [String: String]
    ) throws(ConfigurationError) -> SettingValues {
        var fileValues: [String: FileValue] = [:]
        if let file { try flatten(YAMLMapping(file: file, namedBy: nil), prefix: "", into: &fileValues) }
        return SettingValues(environment: try EnvironmentVariables.own(environment), fileValues: fileValues)
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

    /// The setting's value, or its default.
    ///
    /// - Throws: for a text of another form, for a file that it names and that cannot be read, and if the setting is
    ///   required and nothing sets it.
    func value<Value>(_ setting: Setting<Value>) throws(ConfigurationError) -> Value {
        let place = place(setting.name)
        if let text = environment[setting.name.environmentName] {
            return try setting.read(try CheckedText.check(text, place), place)
        }
        if let value = fileValues[setting.name.key] { return try setting.read(value.text, place) }
        return try setting.standard(self)
    }

    func source(_ name: SettingName) -> SettingSource {
        if environment[name.environmentName] != nil { return .environment }
        return fileValues[name.key] == nil ? .default : .file
    }

    /// Where the setting's value stands, for errors about it.
    func place(_ name: SettingName) -> ConfigurationError.Place {
        guard environment[name.environmentName] == nil, let value = fileValues[name.key] else { return .setting(name) }
        return value.place
    }
}
