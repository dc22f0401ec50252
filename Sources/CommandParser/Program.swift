/// A command line program: a tree of commands, and where its texts go.
public struct Program<Context>: Sendable {
    private let root: Command<Context>
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
    ///
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - output: takes help and version.
    ///   - errors: takes lines of failure.
    public func run(
        _ arguments: [String], context: Context, output: (String) throws(CommandFailure) -> Void,
        errors: (String) -> Void
    ) -> ExitStatus {
        do throws(UsageError<Context>) {
            let invocation = try Parser.parse(arguments, root: root)
            do throws(CommandFailure) {
                try carryOut(invocation, context, output)
                return .done
            } catch {
                guard error.status == .usage, case .run(_, _, let path) = invocation else {
                    return report(error, reminder: "", to: errors)
                }
                return report(error, reminder: HelpText(path: path).reminder, to: errors)
            }
        } catch {
            return report(error.failure, reminder: HelpText(path: error.path).reminder, to: errors)
        }
    }

    private func carryOut(
        _ invocation: Invocation<Context>, _ context: Context, _ output: (String) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        switch invocation {
        case .help(let path): try output(HelpText(path: path).text)
        case .version: try output(version + "\n")
        case .run(let run, let arguments, _): try run(arguments, context)
        }
    }

    private func report(_ failure: CommandFailure, reminder: String, to errors: (String) -> Void) -> ExitStatus {
        if let message = failure.message { errors("\(root.name): \(message)\n" + reminder) }
        return failure.status
    }
}

/// A command line's wish.
enum Invocation<Context> {
    case help(CommandPath<Context>)
    case version
    case run(Command<Context>.Run, ParsedArguments, CommandPath<Context>)
}

/// A command line that is wrong, and the command that it was found wrong for.
struct UsageError<Context>: Error {
    let failure: CommandFailure
    let path: CommandPath<Context>
}

/// Reads a command line from left to right.
struct Parser<Context> {
    private var words: ArraySlice<String>
    private var path: CommandPath<Context>

    /// - Parameter words: without the program's own name.
    static func parse(
        _ words: [String], root: Command<Context>
    ) throws(UsageError<Context>) -> Invocation<Context> {
        var parser = Parser(words: words[...], path: CommandPath(root))
        do throws(CommandFailure) {
            return try parser.parse()
        } catch {
            throw UsageError(failure: error, path: parser.path)
        }
    }

    private mutating func parse() throws(CommandFailure) -> Invocation<Context> {
        // `help a b` is `a b --help`.
        let asksForHelp = path.words.count == 1 && words.first == "help"
        if asksForHelp { words.removeFirst() }
        while case .subcommands(let commands) = path.command.content {
            guard let word = words.popFirst() else { return .help(path) }
            if let builtIn = builtIn(word) { return builtIn }
            guard let command = commands.first(where: { $0.name == word }) else { throw .unexpected(word) }
            path = path.appending(command)
        }
        if asksForHelp {
            if let word = words.first { throw .unexpected(word) }
            return .help(path)
        }
        guard case .action(let parameters, let run) = path.command.content else { return .help(path) }
        var arguments = ParsedArguments()
        var positional = parameters.filter { $0.kind == .argument }[...]
        var takesOptions = true
        while let word = words.popFirst() {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word.hasPrefix("-"), word != "-" {
                if let builtIn = builtIn(word) { return builtIn }
                try takeOption(word, of: parameters, into: &arguments)
            } else if let form = positional.popFirst() {
                try Self.take(word, for: form, into: &arguments)
            } else {
                throw .unexpected(word)
            }
        }
        for form in parameters where form.isRequired && !arguments.holds(form) { throw .missing(form) }
        return .run(run, arguments, path)
    }

    private func builtIn(_ word: String) -> Invocation<Context>? {
        switch word {
        case "--help", "-h": .help(path)
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
        else { throw .usage("unknown option '\(CommandFailure.shown(String(parts.first ?? "")))'") }
        if form.kind == .flag {
            guard parts.count == 1 else { throw .usage("\(form.shown) takes no value") }
            if !arguments.holds(form) { arguments.add("", to: form) }
            return
        }
        guard form.mayRepeat || !arguments.holds(form) else { throw .usage("--\(form.name) is given twice") }
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

extension CommandFailure {
    /// Longest piece of a command line that is repeated: evidence pasted in the place of a file is longer.
    private static let maxShown = 60

    fileprivate static func unexpected(_ word: String) -> CommandFailure {
        .usage("unexpected argument '\(shown(word))'")
    }

    /// A word of the command line in one line, cut if it is long.
    fileprivate static func shown(_ word: String) -> String {
        let line = PrintableText.singleLine(String(String.UnicodeScalarView(word.unicodeScalars.prefix(maxShown))))
        return word.unicodeScalars.count > maxShown ? line + "…" : line
    }
}
