import Configuration
import Foundation

/// Where a value comes from.
enum ConfigurationSource: String, Sendable {
    case environment
    case file
    case `default`
}

/// The configured values as texts, environment over file, and the forms they are read in.
struct ConfigurationValues: Sendable {
    private let reader: ConfigReader
    private let environment: [String: String]
    private let file: ConfigurationFile?

    /// Layers a process's variables over a file.
    init(environment: [String: String], file: ConfigurationFile?) throws(ConfigurationError) {
        self.environment = try EnvironmentVariables.own(environment)
        self.file = file
        let fileValues = (file?.values ?? [:]).map { key, text in
            (AbsoluteConfigKey(ConfigKey(key.rawValue)), ConfigValue(.string(text), isSecret: false))
        }
        reader = ConfigReader(providers: [
            EnvironmentVariablesProvider(environmentVariables: self.environment).prefixKeys(with: "grantor"),
            InMemoryProvider(name: "file", values: Dictionary(uniqueKeysWithValues: fileValues)),
        ])
    }

    /// Reads the environment and the file under it, and no file that these name.
    ///
    /// - Parameter file: path of the YAML file; nil for none.
    static func load(file: String?, environment: [String: String]) throws(ConfigurationError) -> ConfigurationValues {
        var layer: ConfigurationFile?
        if let file { layer = try ConfigurationFile.load(file) }
        return try ConfigurationValues(environment: environment, file: layer)
    }

    /// Which layer a key's value comes from.
    func source(_ key: ConfigurationKey) -> ConfigurationSource {
        if environment[key.environmentName] != nil { return .environment }
        return file?.values[key] == nil ? .default : .file
    }

    /// Runs a step that reads values; its error about one that the file sets names file and line.
    func locating<Part>(_ step: () throws(ConfigurationError) -> Part) throws(ConfigurationError) -> Part {
        do throws(ConfigurationError) {
            return try step()
        } catch {
            throw located(error)
        }
    }

    private func located(_ error: ConfigurationError) -> ConfigurationError {
        func place(_ key: ConfigurationKey) -> ConfigurationError.Place? {
            source(key) == .file ? file?.places[key] : nil
        }
        switch error {
        case .invalid(let key, let requirement):
            return place(key).map { .invalidMember($0, requirement: requirement) } ?? error
        case .file(let path, let problem, .key(let key)):
            return place(key).map { .file(path, problem, namedBy: .member($0)) } ?? error
        case .contradiction(let one, let other, _):
            guard let place = place(other) ?? place(one) else { return error }
            return .syntax(file: place.file, line: place.line, problem: error.description)
        default: return error
        }
    }

    /// The key's text; nil if it is not set. Set but empty is an error, so that a lost value is noticed.
    func text(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        // Marked as secret, so that no access reporter of the library shows a value.
        guard let text = reader.string(forKey: ConfigKey(key.rawValue), isSecret: true) else { return nil }
        guard !text.isEmpty else { throw .empty(key) }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw .invalid(key, requirement: "a text without control characters")
        }
        // What bytes that are not UTF-8 were turned into: the value would name something else than was meant.
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw .invalid(key, requirement: "UTF-8 text") }
        return text
    }

    /// The key's whole number; nil if it is not set.
    func integer(_ key: ConfigurationKey, _ range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let text = try text(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalid(key, requirement: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The key's duration; nil if it is not set.
    func duration(_ key: ConfigurationKey, _ range: ClosedRange<Duration>) throws(ConfigurationError) -> Duration? {
        guard let text = try text(key) else { return nil }
        guard let duration = DurationText.parse(text), range.contains(duration) else {
            let (low, high) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
            throw .invalid(key, requirement: "a duration from \(low) to \(high), such as 90s, 15m or 6h")
        }
        return duration
    }

    /// The key's choice out of a closed set; nil if it is not set.
    func choice<Choice>(_ key: ConfigurationKey, _: Choice.Type) throws(ConfigurationError) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let text = try text(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(key, requirement: "one of \(words)")
        }
        return choice
    }

    /// The key's URL; nil if it is not set. Credentials, query and fragment have no place in it.
    func httpsURL(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let text = try text(key) else { return nil }
        guard let url = URLComponents(string: text), url.scheme?.lowercased() == "https", let host = url.host,
            !host.isEmpty, url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
        else {
            throw .invalid(key, requirement: "a URL that begins with https:// and is no more than host, port and path")
        }
        return text
    }

    /// The path of a PEM file with certificates; nil if it is not set. The file is read, and has to hold at least one.
    func certificateFile(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let path = try text(key) else { return nil }
        guard
            try TextFile.read(path, maxBytes: Self.maxCertificateBytes, namedBy: .key(key))
                .contains(Self.certificateMark)
        else {
            throw .invalid(key, requirement: "a PEM file with at least one certificate")
        }
        return path
    }

    /// What a PEM file with a certificate holds.
    static let certificateMark = "-----BEGIN CERTIFICATE-----"
    /// Size of a PEM file; a system's whole bundle is about 220 KB.
    static let maxCertificateBytes = 2 << 20
}
