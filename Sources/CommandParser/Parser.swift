/// A command line's wish.
enum Invocation<Context> {
    case help(CommandPath<Context>)
    case version
    case run(Command<Context>.Run, ParsedArguments, CommandPath<Context>)
}

/// A command with the words that lead to it.
struct CommandPath<Context>: Sendable {
    private(set) var words: [String]
    private(set) var command: Command<Context>

    init(_ root: Command<Context>) {
        words = [root.name]
        command = root
    }

    func appending(_ subcommand: Command<Context>) -> CommandPath {
        var path = self
        path.words.append(subcommand.name)
        path.command = subcommand
        return path
    }
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
        var positional = parameters.filter { $0.form.kind == .argument }[...]
        var takesOptions = true
        while let word = words.popFirst() {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word.hasPrefix("-"), word != "-" {
                if let builtIn = builtIn(word) { return builtIn }
                try takeOption(word, of: parameters, into: &arguments)
            } else if let parameter = positional.popFirst() {
                try Self.take(word, for: parameter, into: &arguments)
            } else {
                throw .unexpected(word)
            }
        }
        for parameter in parameters where parameter.form.isRequired && !arguments.holds(parameter.form) {
            throw .missing(parameter.form)
        }
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
        _ word: String, of parameters: [any Parameter], into arguments: inout ParsedArguments
    ) throws(CommandFailure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard word.hasPrefix("--"), let name = parts.first?.dropFirst(2),
            let parameter = parameters.first(where: { $0.form.kind != .argument && $0.form.name == name })
        else { throw .usage("unknown option '\(CommandFailure.shown(String(parts.first ?? "")))'") }
        let form = parameter.form
        if form.kind == .flag {
            guard parts.count == 1 else { throw .usage("\(form.shown) takes no value") }
            if !arguments.holds(form) { arguments.add("", to: form) }
            return
        }
        guard form.mayRepeat || !arguments.holds(form) else { throw .usage("--\(form.name) is given twice") }
        if parts.count == 2 {
            try Self.take(String(parts[1]), for: parameter, into: &arguments)
        } else if let value = words.first, form.takesHyphens || value == "-" || !value.hasPrefix("-") {
            words.removeFirst()
            try Self.take(value, for: parameter, into: &arguments)
        } else {
            throw .usage("\(form.shown) needs a value")
        }
    }

    private static func take(
        _ text: String, for parameter: any Parameter, into arguments: inout ParsedArguments
    ) throws(CommandFailure) {
        if let requirement = parameter.requirement(unmetBy: text) {
            let name = parameter.form.kind == .option ? "--\(parameter.form.name)" : parameter.form.shown
            throw .usage("\(name) must be \(requirement)")
        }
        arguments.add(text, to: parameter.form)
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
        let line = String(
            String.UnicodeScalarView(
                word.unicodeScalars.prefix(maxShown).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }))
        return word.unicodeScalars.count > maxShown ? line + "…" : line
    }
}
