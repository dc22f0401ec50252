import CommandParser

/// Why the configuration cannot be used. The remedy is always the operator's: mend the place that is named, start
/// again.
///
/// The description is one line that names the place and never a value, because a value may be a secret. Files are named
/// by their paths.
public enum ConfigurationError: Error, Hashable, Sendable {
    /// A variable that begins with `GRANTOR_` and sets nothing: most likely a misspelt one.
    case unknownVariable(String)
    /// A member of a file that sets nothing.
    case unknownMember(Place)
    /// A setting that the command needs has no value.
    case missing(SettingName)
    /// A value is missing, or is something else than it has to be.
    case refused(Place, requirement: String)
    /// Two values contradict each other.
    case contradiction(Place, Place, problem: String)
    /// A file cannot be read, or is not of the kind that is needed.
    ///
    /// The value `namedBy` names the file; nil for the command line.
    case file(String, FileProblem, namedBy: Place?)
    /// A file can be read and is not of its format.
    case syntax(file: String, line: Int?, problem: String)

    /// Where a value stands, or would have to.
    public enum Place: Hashable, Sendable {
        /// A setting that no file sets.
        case setting(SettingName)
        /// A member of a YAML file, such as `apps[0].sandbox.policy`; an empty path is the file as a whole.
        case member(file: String, line: Int?, path: String)
    }

    /// Why a file was refused.
    public enum FileProblem: Hashable, Sendable {
        case notThere
        /// This user may read neither the file nor, perhaps, a folder on the way to it.
        case forbidden
        case folder
        /// A pipe, a socket, a device or a terminal.
        case special
        case unreadable
        case empty
        case tooLarge(limit: Int)
        case notText
        /// The file begins with U+FEFF, which some editors write and none shows.
        case byteOrderMark
        case nulBytes
        /// The file holds control or format characters other than line breaks and tabs.
        case invisible
        case blank
        case noCertificate
        /// The file holds certificates that cannot be trusted roots; the detail is a sentence.
        case noRoots(detail: String)
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// One line, even if the name of a file or a member has line breaks in it.
    public var description: String { PrintableText.singleLine(message) }

    private var message: String {
        switch self {
        case .unknownVariable(let name): "unknown environment variable \(name); docs/configuration.md has every setting"
        case .unknownMember(let place): "\(place) is unknown; docs/configuration.md has every name"
        case .missing(let name): "\(name) must be set"
        case .refused(let place, let requirement): "\(place) must be \(requirement)"
        case .contradiction(let one, let other, let problem): "\(one) and \(other) \(problem)"
        case .file(let path, let problem, let place): "\(place.map { "\($0): " } ?? "")\(path): \(problem)"
        case .syntax(let file, let line, let problem): "\(file)\(line.map { ":\($0)" } ?? ""): \(problem)"
        }
    }
}

extension ConfigurationError.Place: CustomStringConvertible {
    public var description: String {
        switch self {
        case .setting(let name): return "\(name)"
        case .member(let file, let line, let path):
            let start = "\(file)\(line.map { ":\($0)" } ?? "")"
            return path.isEmpty ? start : "\(start): \(path)"
        }
    }
}

extension ConfigurationError.FileProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notThere: "there is no such file"
        case .forbidden: "this user may not read the file, or not enter its folder"
        case .folder: "it is a folder, not a file"
        case .special: "it is a pipe, a socket, a device or a terminal, not a file"
        case .unreadable: "the file cannot be read"
        case .empty: "the file is empty"
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .notText: "the file is not UTF-8 text"
        case .byteOrderMark: "the file begins with a byte order mark; save it as UTF-8 without one"
        case .nulBytes: "the file has NUL bytes in it; save it as plain UTF-8 text"
        case .invisible: "the file has characters in it that cannot be seen"
        case .blank: "the file holds nothing but white space"
        case .noCertificate: "the file holds no certificate in PEM"
        case .noRoots(let detail): "the file cannot be used: \(detail)"
        }
    }
}

/// The two names of a setting.
public struct SettingName: Hashable, Sendable, CustomStringConvertible {
    /// Every variable of this program begins so.
    static let environmentPrefix = "GRANTOR_"

    /// In a file; dots are levels of nesting.
    public let key: String

    init(_ key: String) { self.key = key }

    /// The environment variable: `kafka.groupId` is set by `GRANTOR_KAFKA_GROUP_ID`.
    public var environmentName: String {
        var name = Self.environmentPrefix
        var previous: Character = "."
        for character in key {
            if character.isUppercase, previous.isLowercase { name.append("_") }
            name += character == "." ? "_" : character.uppercased()
            previous = character
        }
        return name
    }

    /// Both names, for errors.
    public var description: String { "\(environmentName) (\(key) in the file)" }
}

/// Rules for every value, wherever it stands.
enum CheckedText {
    /// The text as it is, unless it is empty, holds a control character, or is what is left of bytes that are not
    /// UTF-8.
    static func check(_ text: String, _ place: ConfigurationError.Place) throws(ConfigurationError) -> String {
        // A value that is set and empty was lost on its way here, most likely.
        guard !text.isEmpty else { throw .refused(place, requirement: "set, not empty") }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw .refused(place, requirement: "a text without control characters")
        }
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw .refused(place, requirement: "UTF-8 text") }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether this is a control or format character, such as ZERO WIDTH SPACE (Unicode's general categories Cc and
    /// Cf). A text with one looks like another without.
    var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format: true
        default: false
        }
    }
}
