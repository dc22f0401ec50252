import CommandParser
import Configuration
import Contract
import Kafka
import Ledger

enum MigrateCommand {
    static let command = Command<CommandContext>(
        "migrate", "Creates the ledger, or brings its schema up to date.", CommonOptions.answering, run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let settings = try arguments.ledgerSettings(context)
        let versions: (from: Int, to: Int)
        do throws(LedgerError) { versions = try context.ledgers.migrate(settings) } catch { throw error.failure }
        let (from, to) = versions
        // The line names the ledger: an operator who forgot to name one has made a new one in the working directory.
        let answer =
            switch from {
            case to: "The schema of \(settings) is up to date.\n"
            case 0: "The ledger \(settings) is made, with version \(to) of its schema.\n"
            default: "The schema of \(settings) went from version \(from) to version \(to).\n"
            }
        // Versions are those of the schema; 0 where there was no ledger.
        let json: JSONOutput = .object([
            "ledger": .text("\(settings)"), "migrated": .truth(from != to), "from": .count(from), "to": .count(to),
        ])
        try context.output(arguments.format(context).render(json: json) { _ in answer })
    }
}

enum LedgerCommand {
    private static let id = Parameter.argument(
        "id", .text, help: "The ledger's id, as the worker that refused it has named it.")

    static let command = Command<CommandContext>(
        "ledger", "Decides about the ledger as a whole.",
        subcommands: [
            Command(
                "accept", "Gives a ledger to the consumer group of these settings.",
                discussion: """
                    A worker whose group has committed offsets ends with 78 if the ledger knows nothing of their \
                    partitions: it is another ledger than the one that the group has worked with, and purchases that \
                    were granted before can be granted again. It also ends with 78 if the ledger belongs to another \
                    group, another Kafka cluster or other topics. Accept it only if that is meant, such as after \
                    the ledger was replaced, the cluster moved or a topic was renamed on purpose, and stop all \
                    workers before. Reading begins at the \
                    offsets that the group has now, or at the ledger's where those are smaller. In another cluster \
                    the ledger's count no more. A partition of which the group has no offset is read from its \
                    oldest record.
                    """,
                [CommonOptions.config, CommonOptions.actor, CommonOptions.reason, id], run: accept)
        ])

    private static func accept(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let id = try arguments[id]
        let note = try arguments.note(context)
        let (known, owner) = try arguments.ledger(context) { ledger throws(LedgerError) in
            (try ledger.identity(), try ledger.group())
        }
        let another = CommandFailure(
            .failed, "the configured ledger is \(known), which is another one; nothing was changed")
        guard known == id else { throw another }
        let kafka = try arguments.kafkaSettings(context)
        let (group, committed) = try group(kafka, context)
        let isForeign = owner.map { group.refusal(of: id, owner: $0) != nil } ?? false
        guard isForeign || !committed.isEmpty else {
            throw CommandFailure(
                .failed, "the group \(group.name) has no committed offsets: workers start with this ledger as it is")
        }
        let isAccepted = try arguments.ledger(context, changes: true) { ledger throws(LedgerError) in
            try ledger.accept(ledger: id, for: group, committed, note)
        }
        guard isAccepted else { throw another }
        try context.output(
            "The ledger \(PrintableText.singleLine(id)) is accepted; workers of \(PrintableText.singleLine("\(group)")) "
                + "start with it from now on.\n")
    }

    /// The group, and its offsets, at which reading is to begin.
    private static func group(
        _ settings: KafkaSettings, _ context: CommandContext
    ) throws(CommandFailure) -> (ConsumerGroup, [TopicPartition: Int64]) {
        do throws(KafkaError) {
            let kafka = KafkaCheck(settings: settings, cluster: context.cluster(settings))
            return (try kafka.group(), try kafka.committedOffsets())
        } catch {
            throw CommandFailure(
                .failed, "Kafka does not say where the group is: \(settings.words(error)); nothing was changed")
        }
    }
}
