/// A program, or one of its commands: its name, its help, and either subcommands or the parameters and the code that
/// runs.
///
/// A command is a value. Nothing is found by reflection, so the declaration has all that a command line may hold.
public struct Command<Context>: Sendable {
    /// The code of a command; the program ends with ``ExitStatus/done`` if it returns.
    /// - Throws: how the program ends if not with ``ExitStatus/done``.
    public typealias Run = @Sendable (ParsedArguments, Context) throws(CommandFailure) -> Void

    let name: String
    let summary: String
    let discussion: String
    let subcommands: [Command]
    let parameters: [ParameterForm]
    /// Nil for a command that only groups others.
    let run: Run?

    /// A command that does something.
    /// - Parameters:
    ///   - summary: one sentence for lists and for the command's own help.
    ///   - discussion: further paragraphs of the command's own help.
    ///   - parameters: options and flags in the order of the help; arguments in the order of the command line, optional
    ///     ones last.
    ///   - run: called with parameters that were all read without an error.
    public init(
        _ name: String, _ summary: String, discussion: String = "", _ parameters: [any AnyParameter] = [],
        run: @escaping Run
    ) {
        (self.name, self.summary, self.discussion, self.run) = (name, summary, discussion, run)
        self.parameters = parameters.map(\.form)
        subcommands = []
    }

    /// A command that only groups others.
    public init(_ name: String, _ summary: String, discussion: String = "", subcommands: [Command]) {
        (self.name, self.summary, self.discussion, self.subcommands) = (name, summary, discussion, subcommands)
        parameters = []
        run = nil
    }
}

/// The help of a command, wrapped for a terminal.
struct HelpText<Context> {
    static var width: Int { 80 }
    /// Where the second column begins, counted from the first.
    private static var labelWidth: Int { 24 }

    /// The words that lead to the command.
    let words: [String]
    let command: Command<Context>

    /// The whole help, with a line break at its end.
    var text: String {
        var sections = [Self.wrapped("OVERVIEW: " + command.summary)]
        if !command.discussion.isEmpty {
            sections += command.discussion.split(separator: "\n\n").map { Self.wrapped(String($0)) }
        }
        sections.append("USAGE: \(usage)")
        let parameters = command.parameters
        add("ARGUMENTS", parameters.filter { $0.kind == .argument }.map(Self.row), to: &sections)
        let builtIn = [("--version", "Show the version."), ("-h, --help", "Show help information.")]
        add("OPTIONS", parameters.filter { $0.kind != .argument }.map(Self.row) + builtIn, to: &sections)
        add("SUBCOMMANDS", command.subcommands.map { ($0.name, $0.summary) }, to: &sections)
        if !command.subcommands.isEmpty {
            let path = [words[0], "help"] + words.dropFirst() + ["<subcommand>"]
            sections.append("  See '\(path.joined(separator: " "))' for detailed help.")
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    /// The command with its parameters, in one line.
    var usage: String {
        guard command.subcommands.isEmpty else { return (words + ["<subcommand>"]).joined(separator: " ") }
        let forms = command.parameters
        let ordered = forms.filter { $0.kind != .argument } + forms.filter { $0.kind == .argument }
        return (words + ordered.map(\.usage)).joined(separator: " ")
    }

    /// Two lines that stand below a usage error.
    var reminder: String {
        "Usage: \(usage)\n  See '\(words.joined(separator: " ")) --help' for more information.\n"
    }

    private static func row(_ form: ParameterForm) -> (label: String, help: String) {
        (form.shown, ([form.help] + form.remarks).joined(separator: " "))
    }

    private func add(_ title: String, _ rows: [(label: String, help: String)], to sections: inout [String]) {
        guard !rows.isEmpty else { return }
        let lines = rows.map { label, help in
            // A label that leaves no space before the second column has a line of its own.
            let isShort = label.count < Self.labelWidth
            let padding = String(repeating: " ", count: isShort ? Self.labelWidth - label.count : 0)
            let indent = String(repeating: " ", count: Self.labelWidth + 2)
            let text = Self.wrapped(help, width: Self.width - indent.count).replacing("\n", with: "\n" + indent)
            return "  \(label)\(padding)" + (isShort ? text : "\n\(indent)\(text)")
        }
        sections.append("\(title):\n" + lines.joined(separator: "\n"))
    }

    private static func wrapped(_ text: String, width: Int = width) -> String {
        PrintableText.wrapped(text, to: width).joined(separator: "\n")
    }
}
