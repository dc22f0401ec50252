/// Why the configuration cannot be used. The remedy is always the operator's: mend what is named, start again.
///
/// The description is one line that names the place and never a value, because a value may be a secret. Files are named by
/// their paths.
enum ConfigurationError: Error, Hashable, Sendable {
    /// A variable that begins with `GRANTOR_` and means nothing: most likely a misspelt one.
    case unknownVariable(String, suggestion: String?)
    /// A member of a file that means nothing.
    case unknownMember(Place, suggestion: String?)
    /// Needed for the command, and not set.
    case missing(ConfigurationKey)
    /// Set, and to nothing: its value was lost on the way here, most likely.
    case empty(ConfigurationKey)
    /// Set to something else than the key takes.
    case invalid(ConfigurationKey, requirement: String)
    /// Two keys that contradict each other.
    case contradiction(ConfigurationKey, ConfigurationKey, requirement: String)
    /// A member of a file that is missing or is something else than it has to be.
    case invalidMember(Place, requirement: String)
    /// A member that the same file has given before.
    case duplicateMember(Place)
    /// A file that cannot be read.
    case file(String, FileProblem, namedBy: FileOrigin)
    /// A file that can be read and is not of its format.
    case syntax(file: String, line: Int?, problem: String)

    /// A member of a file.
    struct Place: Hashable, Sendable {
        let file: String
        let line: Int?
        /// From the root: `apps[0].sandbox.policy`; empty for the file as a whole.
        let member: String
    }

    /// What a file's path was taken from.
    enum FileOrigin: Hashable, Sendable {
        case commandLine
        case key(ConfigurationKey)
        case member(Place)
    }

    /// What keeps a file from being read.
    enum FileProblem: Hashable, Sendable {
        case notThere
        /// The file, or a folder on the way to it, may not be read by this user.
        case forbidden
        case folder
        /// A pipe, a socket or a terminal.
        case special
        case unreadable
        case empty
        case tooLarge(limit: Int)
        case notText
        /// It begins with U+FEFF, which some editors put there and nobody sees.
        case byteOrderMark
        case nulBytes
        /// Control and format characters other than line breaks.
        case invisible
        /// Nothing but white space.
        case blank
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// One line even if a file's name or a member's has line breaks in it.
    var description: String { PrintableText.singleLine(message) }

    private var message: String {
        switch self {
        case .unknownVariable(let name, let suggestion):
            "unknown environment variable \(name)\(Self.hint(suggestion))"
        case .unknownMember(let place, let suggestion):
            "\(place): unknown\(Self.hint(suggestion))"
        case .missing(let key):
            "\(key.places) must be set"
        case .empty(let key):
            "\(key.places) is empty; give it a value, or do not set it"
        case .invalid(let key, let requirement):
            "\(key.places) must be \(requirement)"
        case .contradiction(let one, let other, let requirement):
            "\(one.places) and \(other.places) \(requirement)"
        case .invalidMember(let place, let requirement):
            "\(place) must be \(requirement)"
        case .duplicateMember(let place):
            "\(place): given twice"
        case .file(let path, let problem, let origin):
            "\(origin)\(path): \(problem)"
        case .syntax(let file, let line, let problem):
            "\(file)\(line.map { ":\($0)" } ?? ""): \(problem)"
        }
    }

    private static func hint(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean \($0)?" } ?? ""
    }
}

extension ConfigurationError.Place: CustomStringConvertible {
    var description: String {
        let prefix = "\(file)\(line.map { ":\($0)" } ?? "")"
        return member.isEmpty ? prefix : "\(prefix): \(member)"
    }
}

extension ConfigurationError.FileOrigin: CustomStringConvertible {
    /// What stands before the path in a message.
    var description: String {
        switch self {
        case .commandLine: ""
        case .key(let key): "\(key.places): "
        case .member(let place): "\(place): "
        }
    }
}

extension ConfigurationError.FileProblem: CustomStringConvertible {
    var description: String {
        switch self {
        case .notThere: "there is no such file"
        case .forbidden: "this user may not read the file, or not enter its folder"
        case .folder: "it is a folder, not a file"
        case .special: "it is a pipe, a socket or a terminal, not a file"
        case .unreadable: "the file cannot be read"
        case .empty: "the file is empty"
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .notText: "the file is not UTF-8 text"
        case .byteOrderMark: "the file begins with a byte order mark; save it as UTF-8 without one"
        case .nulBytes: "the file has NUL bytes in it; save it as plain UTF-8 text"
        case .invisible: "the file has characters in it that cannot be seen"
        case .blank: "the file holds nothing but white space"
        }
    }
}

extension ConfigurationKey {
    /// Both names of the key, for messages.
    var places: String { "\(environmentName) (\(rawValue) in the file)" }
}
