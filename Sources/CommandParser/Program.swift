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
    /// A wrong command line, and a failure of a command, become one line on standard error that begins with the
    /// program's name; below a wrong command line stands how the command is used.
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
