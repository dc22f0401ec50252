import CommandParser
import Contract
import Ledger

enum WorkersCommand {
    static let command = Command<CommandContext>(
        "workers", "Shows the workers of the ledger.",
        subcommands: [
            Command(
                "list", "Lists workers by their signs of life, with the partitions that each has taken over.",
                discussion: """
                    A live worker was seen within the last \(WorkerSign.mostSilence / 1000) s; the work is divided by \
                    their number. A silent one has ended without leave, or cannot reach the ledger, and is shown for a \
                    day. A worker that was stopped in order is not shown.
                    """,
                CommonOptions.tabulating, run: list)
        ])

    private static func list(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (workers, partitions) = try arguments.ledger(context) { ledger throws(LedgerError) in
            (try ledger.workers(), try ledger.partitions())
        }
        let taken = Dictionary(grouping: partitions.filter { $0.owner != nil }, by: \.owner)
        let now = context.now()
        let table = TextTable(
            header: ["WORKER", "STATE", "VERSION", "SEEN", "STARTED", "PARTITIONS"],
            rows: workers.map { worker in
                let seen = Duration.milliseconds(max(0, now.milliseconds - worker.seenAt.milliseconds)).rough
                return [
                    worker.name, worker.state, worker.version, "\(seen) ago", worker.startedAt.rfc3339,
                    "\(taken[worker.name]?.count ?? 0)",
                ]
            }, keepsFirst: true)
        let json = workers.map { $0.json(taken[$0.name] ?? []) }
        try context.output(arguments.format(context).page("workers", table, json, next: nil))
    }
}

extension WorkerRow {
    fileprivate var state: String { isLive ? "live" : "silent" }

    fileprivate func json(_ partitions: [PartitionRow]) -> JSONOutput {
        .object([
            "name": .text(name), "state": .text(state), "version": .text(version), "startedAt": .time(startedAt),
            "seenAt": .time(seenAt), "partitions": .list(partitions.map { .text("\($0.partition)") }),
        ])
    }
}
