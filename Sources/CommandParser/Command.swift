/// A program, or one of its commands: its name, its help, and either subcommands or the parameters and the code that
/// runs.
///
/// A command is a value. Nothing is found by reflection, so all that a command line may hold stands in one place.
public struct Command<Context>: Sendable {
    /// Carries the command out.
    ///
    /// - Throws: how the program ends if not with ``ExitStatus/done``.
    public typealias Run = @Sendable (ParsedArguments, Context) throws(CommandFailure) -> Void

    /// The word on the command line.
    public let name: String
    /// One sentence for lists and for the command's own help.
    public let summary: String
    /// Further paragraphs of the command's own help.
    public let discussion: String
    let content: Content

    enum Content: Sendable {
        case subcommands([Command])
        case action([any Parameter], Run)
    }

    /// A command that does something.
    ///
    /// - Parameters:
    ///   - parameters: options and flags in the order of the help; positional arguments in the order of the command
    ///     line, those that may be left out last.
    ///   - run: called with parameters that were all read without an error.
    public init(
        _ name: String, _ summary: String, discussion: String = "", _ parameters: [any Parameter] = [],
        run: @escaping Run
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        content = .action(parameters, run)
    }

    /// A command that only groups others.
    public init(_ name: String, _ summary: String, discussion: String = "", subcommands: [Command]) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        content = .subcommands(subcommands)
    }

    var subcommands: [Command] {
        if case .subcommands(let commands) = content { commands } else { [] }
    }

    var parameters: [any Parameter] {
        if case .action(let parameters, _) = content { parameters } else { [] }
    }
}

/// How a program ends. The numbers are those of sysexits(3) where it has one.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    /// The command was understood and did not succeed.
    case failed = 1
    /// EX_USAGE: the command line is wrong.
    case usage = 64
    /// EX_CONFIG: the configuration is wrong; starting again does not help.
    case configuration = 78
}

/// The end of a command that did not do what it was asked for.
public struct CommandFailure: Error, Hashable, Sendable {
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
}
