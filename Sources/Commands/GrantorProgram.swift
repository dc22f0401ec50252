import CommandParser

/// The program `grantor`.
public enum GrantorProgram {
    static let program = Program(
        Command<CommandContext>(
            "grantor", "Turns App Store payments into granted purchases.",
            discussion: "Exit codes: 0 done, 1 failed, 64 bad usage, 78 bad configuration.",
            subcommands: [
                MigrateCommand.command, SubmissionsCommand.command, GrantsCommand.command, LedgerCommand.command,
            ]),
        version: "0.2.0")
}
