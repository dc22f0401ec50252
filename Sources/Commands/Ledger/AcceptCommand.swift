import CommandParser
import Configuration
import Ledger

/// `grantor ledger`.
enum LedgerCommand {
    private static let id = Argument.required(
        "id", .text, help: "The ledger's id, as the worker that refused it has named it.")

    static let command = Command<CommandContext>(
        "ledger", "Decides about the ledger as a whole.",
        subcommands: [
            Command(
                "accept", "Accepts a ledger that its consumer group has worked without.",
                discussion: """
                    A worker whose group has committed offsets ends with 78 if the ledger knows nothing of their \
                    partitions: it is another ledger than the one that the group has worked with, and purchases that \
                    were granted before can be granted again. Accept it only if that is meant, such as after the \
                    ledger was replaced on purpose.
                    """,
                [CommonOptions.config, CommonOptions.actor, CommonOptions.reason, id], run: accept)
        ])

    private static func accept(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let id = try arguments[id]
        let note = OperatorNote(
            actor: try arguments[CommonOptions.actor], reason: try arguments[CommonOptions.reason], at: context.now())
        let (isAccepted, known) = try arguments.ledger(context) { ledger throws(LedgerError) in
            (try ledger.accept(ledger: id, note), try ledger.identity())
        }
        guard isAccepted else {
            throw CommandFailure(
                .failed, "the configured ledger is \(known), which is another one; nothing was changed")
        }
        try context.output(
            "The ledger \(PrintableText.singleLine(id)) is accepted; workers start with it from now on.\n")
    }
}
