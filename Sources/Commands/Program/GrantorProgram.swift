import CommandParser
import Configuration
import Cryptography
import Glibc

public enum GrantorProgram {
    static let program: Program<CommandContext> = Program(
        Command<CommandContext>(
            "grantor", "Turns App Store payments into granted purchases.",
            discussion: """
                Exit codes: 0 done, 1 failed or not found, 64 bad usage, 78 bad configuration. A list that is empty is an \
                answer and ends with 0. A thing that is named and not there, such as an id or an app, ends with 1. An audit \
                ends with 2 if it could not look at everything.
                """,
            subcommands: [
                RunCommand.command, HealthCommand.command, CheckCommand.command, VerifyCommand.command,
                TopicsCommand.command, MigrateCommand.command, LedgerCommand.command, PartitionsCommand.command,
                FindCommand.command, SubmissionsCommand.command, GrantsCommand.command, OutboxCommand.command,
                AuditCommand.command,
                EventsCommand.command, QuarantineCommand.command, WorkersCommand.command, PruneCommand.command,
                EraseCommand.command, CompletionsCommand.command,
            ]),
        version: programVersion)

    /// Carries a command line out, and ends the process with its exit code.
    /// - Parameter arguments: without the program's own name.
    public static func main(_ arguments: [String]) -> Never {
        // A reader that closes a pipe early must not end the program by a signal. The command goes on, and the exit code
        // says how that ended.
        signal(SIGPIPE, SIG_IGN)
        endBySignals()
        fillStandardDescriptors()
        forbidCoreFiles()
        do throws(CryptographicLibrary.Unusable) {
            try CryptographicLibrary.check()
        } catch {
            StandardOutput.writeError("grantor: \(error)\n")
            exit(ExitStatus.configuration.rawValue)
        }
        let status = program.run(
            arguments, context: .process(), output: StandardOutput.write, errors: StandardOutput.writeError)
        exit(status.rawValue)
    }

    /// SIGINT and SIGTERM end a command at once, also as the first process of its container: there the kernel drops a
    /// signal that has no handler. Nothing needs an order: the ledger takes a change that is under way back, and all
    /// changes before it stay. A worker blocks both signals, and takes them itself.
    ///
    /// A signal that the caller has ignored, such as SIGINT of a shell's job in the background, stays so.
    private static func endBySignals() {
        for number in [SIGINT, SIGTERM] {
            var before = sigaction()
            sigaction(number, nil, &before)
            // SIG_DFL is a null pointer.
            guard before.__sigaction_handler.sa_handler == nil else { continue }
            var handling = sigaction()
            handling.__sigaction_handler.sa_handler = { number in
                // With the handler gone it ends the process as a caller expects of a signal, unless it is dropped.
                raise(number)
                _exit(128 + number)
            }
            handling.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_NODEFER)
            sigaction(number, &handling, nil)
        }
    }

    /// A crash leaves no core file (core(5)): it would hold secrets, keys and players' evidence.
    static func forbidCoreFiles() {
        var none = rlimit()
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Gives closed standard descriptors to `/dev/null`. Otherwise the next opened file gets their numbers, such as the
    /// ledger's, and the answer of the command is written into it.
    private static func fillStandardDescriptors() {
        var descriptor: Int32
        repeat { descriptor = open("/dev/null", O_RDWR) } while (0...STDERR_FILENO).contains(descriptor)
        if descriptor >= 0 { close(descriptor) }
    }
}
