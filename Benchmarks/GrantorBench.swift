import ArgumentParser

/// `grantor-bench`: measures what `make bench` prints, the worker unless another part is named.
@main
struct GrantorBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grantor-bench", abstract: "Measures the worker, or a part of it.",
        subcommands: [WorkerCommand.self, LedgerCommand.self, OutageCommand.self, StagesCommand.self],
        defaultSubcommand: WorkerCommand.self
    )
}
