import CommandParser

/// Why the configuration cannot be used. The remedy is always the operator's: mend the named place, start again.
public struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// One line that names the place and never a value, because a value may be a secret. Files are named by their
    /// paths.
    public let description: String

    private init(_ message: String) { description = PrintableText.singleLine(message) }

    /// A variable that begins with `GRANTOR_` and sets nothing: most likely a misspelt one.
    static func unknownVariable(_ name: String) -> Self {
        Self("unknown environment variable \(name); docs/configuration.md has every setting")
    }

    /// A member of a file that sets nothing.
    static func unknownMember(_ place: Place) -> Self {
        Self("\(place) is unknown; docs/configuration.md has every name")
    }

    /// A setting that the command needs has no value.
    static func missing(_ name: SettingName) -> Self { Self("\(name) must be set") }

    /// A value is missing, or is something else than it has to be.
    static func refused(_ place: Place, requirement: String) -> Self { Self("\(place) must be \(requirement)") }

    /// Two values contradict each other.
    static func contradiction(_ one: Place, _ other: Place, problem: String) -> Self {
        Self("\(one) and \(other) \(problem)")
    }

    /// A file cannot be read, or is not of the kind that is needed.
    /// - Parameter place: the value that names the file; nil for the command line.
    static func file(_ path: String, _ problem: FileProblem, namedBy place: Place?) -> Self {
        Self("\(place.map { "\($0): " } ?? "")\(path): \(problem.text)")
    }

    /// A file can be read and is not of its format.
    static func syntax(file: String, line: Int?, problem: String) -> Self {
        Self("\(file)\(line.map { ":\($0)" } ?? ""): \(problem)")
    }

    /// Where a value stands, or would have to.
    enum Place: Hashable, CustomStringConvertible {
        /// A setting that no file sets.
        case setting(SettingName)
        /// A member of a YAML file, such as `apps[0].sandbox.policy`; an empty path is the file as a whole.
        case member(file: String, line: Int?, path: String)

        var description: String {
            switch self {
            case .setting(let name): return "\(name)"
            case .member(let file, let line, let path):
                let start = "\(file)\(line.map { ":\($0)" } ?? "")"
                return path.isEmpty ? start : "\(start): \(path)"
            }
        }
    }

    struct FileProblem: Hashable {
        let text: String

        static let notThere = Self(text: "there is no such file")
        /// Perhaps of a folder on the way to it.
        static let forbidden = Self(text: "this user may not read the file, or not enter its folder")
        static let folder = Self(text: "it is a folder, not a file")
        static let special = Self(text: "it is a pipe, a socket, a device or a terminal, not a file")
        static let unreadable = Self(text: "the file cannot be read")
        static let empty = Self(text: "the file is empty")
        static let notText = Self(text: "the file is not UTF-8 text")
        /// U+FEFF, which some editors write and none shows.
        static let byteOrderMark = Self(text: "the file begins with a byte order mark; save it as UTF-8 without one")
        static let nulBytes = Self(text: "the file has NUL bytes in it; save it as plain UTF-8 text")
        /// Control or format characters other than line breaks and tabs.
        static let invisible = Self(text: "the file has characters in it that cannot be seen")
        static let blank = Self(text: "the file holds nothing but white space")
        static let severalLines = Self(text: "the file must hold one line, the password")
        static let noCertificate = Self(text: "the file holds no certificate in PEM")

        static let noTokens = Self(text: "the file holds no token")
        static let tooManyTokens = Self(text: "the file holds more than \(TokensFile.mostTokens) tokens")

        /// A line that is neither a token nor a remark. It is not shown.
        static func noToken(line: Int) -> Self {
            let lengths = TokensFile.lengths
            return Self(
                text:
                    "line \(line) is no token, which has \(lengths.lowerBound) to \(lengths.upperBound) letters, digits "
                    + "and -._~+/=")
        }

        static func tooLarge(limit: Int) -> Self { Self(text: "the file is larger than \(limit) bytes") }

        /// Certificates that cannot be trusted roots.
        static func noRoots(detail: String) -> Self { Self(text: "the file cannot be used: \(detail)") }
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
    var environmentName: String {
        var name = Self.environmentPrefix
        var previous: Character = "."
        for character in key {
            if character.isUppercase, previous.isLowercase { name.append("_") }
            name += character == "." ? "_" : character.uppercased()
            previous = character
        }
        return name
    }

    public var description: String { "\(environmentName) (\(key) in the file)" }
}

/// Rules for every value, wherever it stands.
enum CheckedText {
    /// The text as it is, unless it is empty, holds a control character, or comes from bytes that are not UTF-8.
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
