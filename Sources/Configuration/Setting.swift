import CommandParser

protocol SettingRow: Sendable {
    var name: SettingName { get }
    /// The default, in Markdown.
    var documentedDefault: String { get }
    /// The effect of the setting and the values it takes, in Markdown.
    var help: String { get }
    /// The value in force, without secrets.
    func shown(_ values: SettingValues) throws(ConfigurationError) -> String
}

/// The declaration of a setting: its names, its form, its default and its documentation.
struct Setting<Value: Sendable>: SettingRow {
    typealias Read = @Sendable (String, ConfigurationError.Place) throws(ConfigurationError) -> Value

    let name: SettingName
    let documentedDefault: String
    let help: String
    /// Reads a text that is neither empty nor has control characters.
    let read: Read
    /// The value where nothing sets it.
    let standard: @Sendable (SettingValues) throws(ConfigurationError) -> Value
    let show: @Sendable (Value) -> String

    func shown(_ values: SettingValues) throws(ConfigurationError) -> String { show(try values.value(self)) }
}

extension Setting {
    /// A setting with one value as its default.
    init(_ key: String, _ form: ValueForm<Value>, default standard: Value, _ help: String) {
        self.init(key, form, documented: "`\(form.show(standard))`", default: { _ in standard }, help)
    }

    /// A setting whose default follows from others.
    init(
        _ key: String, _ form: ValueForm<Value>, documented: String,
        default standard: @escaping @Sendable (SettingValues) throws(ConfigurationError) -> Value, _ help: String
    ) {
        self.init(
            name: SettingName(key), documentedDefault: documented, help: help, read: form.reading, standard: standard,
            show: form.show)
    }

    /// A setting that every command that uses it needs.
    static func required(_ key: String, _ form: ValueForm<Value>, _ help: String) -> Setting {
        let name = SettingName(key)
        return Setting(
            key, form, documented: "required",
            default: { _ throws(ConfigurationError) in throw .missing(name) }, help)
    }

    /// A setting that may be left out.
    /// - Parameter absent: how its absence is shown.
    static func optional<Element>(
        _ key: String, _ form: ValueForm<Element>, absent: String, _ help: String
    ) -> Setting where Value == Element? {
        file(key, absent: absent, help, read: form.reading, show: form.show)
    }

    /// A setting that names a file, which is read with the settings; it may be left out.
    static func file<Element>(
        _ key: String, absent: String, _ help: String, read: @escaping Setting<Element>.Read,
        show: @escaping @Sendable (Element) -> String
    ) -> Setting where Value == Element? {
        Setting(
            name: SettingName(key), documentedDefault: absent, help: help,
            read: { text, place throws(ConfigurationError) in try read(text, place) }, standard: { _ in nil },
            show: { $0.map(show) ?? absent })
    }
}

extension ValueForm {
    /// Reads a text, or refuses it by naming its place.
    fileprivate var reading: Setting<Value>.Read {
        { text, place throws(ConfigurationError) in
            guard let value = read(text) else { throw .refused(place, requirement: requirement) }
            return value
        }
    }
}

/// Where the value of a setting comes from.
public enum SettingSource: String, Hashable, Sendable {
    case environment
    case file
    case `default`
}

/// The texts that settings are set to, environment over file.
public struct SettingValues: Sendable {
    struct FileValue: Sendable {
        let text: String
        let place: ConfigurationError.Place
    }

    /// By the names of variables.
    let environment: [String: String]
    /// By keys.
    let fileValues: [String: FileValue]

    /// The setting's value, or its default.
    /// - Throws: for a text of another form, for a named file that this process cannot read, and for a required setting
    ///   without a value.
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

    func place(_ name: SettingName) -> ConfigurationError.Place {
        guard environment[name.environmentName] == nil, let value = fileValues[name.key] else { return .setting(name) }
        return value.place
    }
}

public struct SettingLine: Hashable, Sendable {
    public let name: SettingName
    /// The value in force; of secrets only that there are some.
    public let value: String
    public let source: SettingSource
}
