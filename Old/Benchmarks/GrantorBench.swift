import ArgumentParser

/// `grantor-bench`: measures what `make bench` prints, all of it unless a part is named.
@main
struct GrantorBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grantor-bench", abstract: "Measures the worker, or a part of it.",
        subcommands: [
            AllCommand.self, WorkerCommand.self, LittleCommand.self, LatencyCommand.self, StartCommand.self,
            GrowthCommand.self, MemoryCommand.self, LedgerCommand.self, OutageCommand.self, StagesCommand.self,
            ClientsCommand.self, CompareCommand.self, StandInCommand.self, BareCallsCommand.self,
        ],
        defaultSubcommand: AllCommand.self
    )
}
