public import ArgumentParser

/// The command line: `grantor <command>`.
public struct GrantorCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "grantor",
        abstract: "Turns App Store payments into granted purchases.",
        discussion: """
            Exit codes: 0 done, 1 failed, 64 bad usage, 78 bad configuration.
            """,
        version: "0.1.0",
        subcommands: [
            RunCommand.self, DemoCommand.self, VerifyCommand.self, MigrateCommand.self, CheckCommand.self,
            TopicsCommand.self, SubmissionsCommand.self, GrantsCommand.self, AuditCommand.self,
            SimulateAppStoreCommand.self,
        ])

    /// Made by the argument parser.
    public init() {}
}
