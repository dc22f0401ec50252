/// A command line program: a tree of commands, and where its texts go.
public struct Program<Context>: Sendable {
    let root: Command<Context>
    private let version: String

    /// - Parameter version: printed for `--version`.
    public init(_ root: Command<Context>, version: String) {
        self.root = root
        self.version = version
    }

    /// Reads a command line and carries it out.
    ///
    /// A wrong command line, and a failure of a command, become one line on standard error. Below a wrong command line
    /// stands how the command is used.
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - output: takes help and version.
    ///   - errors: takes lines of failure.
    public func run(
        _ arguments: [String], context: Context, output: (String) throws(CommandFailure) -> Void,
        errors: (String) -> Void
    ) -> ExitStatus {
        var parser = Parser(arguments, root: root)
        do throws(CommandFailure) {
            switch try parser.parse() {
            case .help: try output(parser.help.text)
            case .version: try output(version + "\n")
            case .run(let run, let arguments): try run(arguments, context)
            }
            return .done
        } catch {
            let reminder = error.status == .usage ? parser.help.reminder : ""
            if let message = error.message { errors("\(root.name): \(message)\n" + reminder) }
            return error.status
        }
    }
}

/// Reads a command line from left to right.
struct Parser<Context> {
    enum Invocation {
        case help, version
        case run(Command<Context>.Run, ParsedArguments)
    }

    private var words: ArraySlice<String>
    /// Of the command that the words so far lead to.
    private(set) var help: HelpText<Context>

    /// - Parameter words: without the program's own name.
    init(_ words: [String], root: Command<Context>) {
        self.words = words[...]
        help = HelpText(words: [root.name], command: root)
    }

    mutating func parse() throws(CommandFailure) -> Invocation {
        // `help a b` is `a b --help`.
        let asksForHelp = words.first == "help"
        if asksForHelp { words.removeFirst() }
        while !help.command.subcommands.isEmpty {
            guard let word = words.popFirst() else { return .help }
            if let builtIn = Self.builtIn(word) { return builtIn }
            guard let command = help.command.subcommands.first(where: { $0.name == word }) else {
                throw .unexpected(word, known: help.command.subcommands.map(\.name))
            }
            help = HelpText(words: help.words + [word], command: command)
        }
        if asksForHelp {
            if let word = words.first { throw .unexpected(word) }
            return .help
        }
        guard let run = help.command.run else { return .help }
        let parameters = help.command.parameters
        var arguments = ParsedArguments()
        var positional = parameters.filter { $0.kind == .argument }[...]
        var takesOptions = true
        while let word = words.popFirst() {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word.hasPrefix("-"), word != "-" {
                if let builtIn = Self.builtIn(word) { return builtIn }
                try takeOption(word, of: parameters, into: &arguments)
            } else if let form = positional.popFirst() {
                try Self.take(word, for: form, into: &arguments)
            } else {
                throw .unexpected(word)
            }
        }
        for form in parameters where form.isRequired && !arguments.holds(form) { throw .missing(form) }
        return .run(run, arguments)
    }

    private static func builtIn(_ word: String) -> Invocation? {
        switch word {
        case "--help", "-h": .help
        case "--version": .version
        default: nil
        }
    }

    private mutating func takeOption(
        _ word: String, of parameters: [ParameterForm], into arguments: inout ParsedArguments
    ) throws(CommandFailure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard word.hasPrefix("--"), let name = parts.first?.dropFirst(2),
            let form = parameters.first(where: { $0.kind != .argument && $0.name == name })
        else {
            let known = parameters.filter { $0.kind != .argument }.map { "--\($0.name)" } + ["--help", "--version"]
            throw .unknown("unknown option", String(parts.first ?? ""), known: known)
        }
        if form.kind == .flag {
            guard parts.count == 1 else { throw .usage("\(form.shown) takes no value") }
            return arguments.add("", to: form)
        }
        guard !arguments.holds(form) else { throw .usage("--\(form.name) is given twice") }
        if parts.count == 2 {
            try Self.take(String(parts[1]), for: form, into: &arguments)
        } else if let value = words.first, form.takesHyphens || value == "-" || !value.hasPrefix("-") {
            words.removeFirst()
            try Self.take(value, for: form, into: &arguments)
        } else {
            throw .usage("\(form.shown) needs a value")
        }
    }

    private static func take(
        _ text: String, for form: ParameterForm, into arguments: inout ParsedArguments
    ) throws(CommandFailure) {
        if let requirement = form.requirement(text) {
            let name = form.kind == .option ? "--\(form.name)" : form.shown
            throw .usage("\(name) must be \(requirement)")
        }
        arguments.add(text, to: form)
    }
}

/// How a program ends. The numbers are those of sysexits(3) where it has one.
public enum ExitStatus: Int32, Sendable {
    case done = 0
    /// The command was understood and did not succeed.
    case failed = 1
    /// It succeeded in part: something could not be looked at.
    case incomplete = 2
    /// EX_USAGE: the command line is wrong.
    case usage = 64
    /// EX_CONFIG: the configuration is wrong; starting again does not help.
    case configuration = 78
}

/// The end of a command that did not do what it was asked for.
public struct CommandFailure: Error, Hashable {
    public let status: ExitStatus
    /// One line for standard error; nil where the answer on standard output says it all.
    public let message: String?

    /// An end with a line that says why.
    public init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// A command line that cannot be meant. The program adds how the command is used.
    public static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

    static func missing(_ form: ParameterForm) -> CommandFailure { .usage("\(form.shown) is missing: \(form.help)") }

    /// - Parameter known: The words that may stand there.
    static func unexpected(_ word: String, known: [String] = []) -> CommandFailure {
        unknown("unexpected argument", word, known: known)
    }

    static func unknown(_ kind: String, _ word: String, known: [String]) -> CommandFailure {
        let meant = Suggestion.closest(to: word, of: known).map { "; did you mean '\($0)'?" } ?? ""
        return .usage("\(kind) '\(shown(word))'\(meant)")
    }

    /// Longest piece of a command line that is repeated: evidence pasted instead of a file's name is longer.
    private static let maxShown = 60

    /// A word of the command line in one line, cut if it is long.
    static func shown(_ word: String) -> String {
        let line = PrintableText.singleLine(String(word.unicodeScalars.prefix(maxShown)))
        return word.unicodeScalars.count > maxShown ? line + "…" : line
    }
}
