import Audit
import CommandParser
import Configuration
import Contract
import Kafka
import Ledger

enum PartitionsCommand {
    private static let partition = Parameter.required(
        "partition", .integer(0...Int32.max), help: "The partition of the input topic.")
    private static let from = Parameter.required(
        "from", .integer(0...Int64.max), help: "The offset at which the partition stands, as list shows it.")
    private static let through = Parameter.required(
        "through", .integer(0...Int64.max), help: "The last offset that is passed.")

    static let command = Command<CommandContext>(
        "partitions", "Shows how far partitions are, and passes offsets that no worker can read.",
        subcommands: [
            Command(
                "list", "Lists partitions, with the first offset of each that is not complete.",
                CommonOptions.tabulating, run: list),
            Command(
                "pass", "Passes offsets whose records come damaged from their broker.",
                discussion: """
                    Exactly the named offsets are passed, also those whose records could be read: name no more than \
                    the damaged batch. Each is told on the quarantine topic, without key and value. At most \
                    \(PassedOffsets.most) offsets in one call. --from is the offset at which the partition stands, so \
                    nothing that is not complete is passed unseen. --through must be below the partition's end. Workers \
                    may run: the one that reads the partition takes it over again and reads on behind.
                    """,
                CommonOptions.answering + [CommonOptions.actor, CommonOptions.reason, partition, from, through],
                run: pass),
        ])

    private static func list(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let rows = try arguments.ledger(context) { ledger throws(LedgerError) in try ledger.partitions() }
        let table = TextTable(
            header: ["PARTITION", "NEXT", "STARTS", "OWNER"],
            rows: rows.map { ["\($0.partition)", $0.next.map { "\($0)" } ?? "-", "\($0.starts)", $0.owner ?? "-"] },
            keepsFirst: true)
        try context.output(arguments.format(context).page("partitions", table, rows.map(\.json), next: nil))
    }

    private static func pass(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (kafka, topic) = try arguments.configuration(context) { values throws(ConfigurationError) in
            (try KafkaSettings(values), try TopicNames(values)[.submitted])
        }
        let (first, last) = (try arguments[from], try arguments[through])
        let place = TopicPartition(topic: topic, partition: try arguments[partition])
        guard first <= last, let passed = PassedOffsets(partition: place, offsets: first...last) else {
            throw .usage("--through must be --from or higher, for at most \(PassedOffsets.most) offsets at once")
        }
        let note = try arguments.note(context)
        try demandEnd(of: place, above: last, kafka, context)
        let result = try arguments.ledger(context, changes: true) { ledger throws(LedgerError) in
            try ledger.pass(passed, note)
        }
        switch result {
        case .standsAt(passed.next):
            throw CommandFailure(
                .failed,
                "\(place) stands at offset \(passed.next): these offsets are passed already; nothing was changed")
        case .standsAt(let next?):
            throw CommandFailure(.failed, "\(place) stands at offset \(next), not at \(first); nothing was changed")
        case .standsAt(nil):
            throw CommandFailure(
                .failed,
                "the ledger has no checkpoint of \(place): a worker that reads it writes one, also before a damaged batch; "
                    + "nothing was changed")
        case .passed: break
        }
        let json: JSONOutput = .object([
            "topic": .text(place.topic), "partition": .number(Int64(place.partition)), "from": .number(first),
            "through": .number(last), "passed": .count(passed.offsets.count), "next": .number(passed.next),
        ])
        let offsets = passed.offsets.count.of("offset", "offsets")
        try context.output(
            arguments.format(context).render(json: json) { _ in
                "\(offsets) of \(place) passed, and owed to the quarantine topic; "
                    + "workers read on at \(passed.next).\n"
            })
    }

    /// Refuses to pass offsets that no record has yet: it would pass submissions that are still to come.
    private static func demandEnd(
        of place: TopicPartition, above last: Int64, _ kafka: KafkaSettings, _ context: CommandContext
    ) throws(CommandFailure) {
        let end: Int64?
        do throws(KafkaError) {
            end = try context.auditedTopics(kafka).offsets(of: place.topic)[place]?.upperBound
        } catch {
            throw CommandFailure(
                .failed, "Kafka does not say where \(place) ends: \(kafka.words(error)); nothing was changed")
        }
        guard let end else { throw CommandFailure(.failed, "Kafka has no partition \(place); nothing was changed") }
        guard last < end else {
            throw CommandFailure(
                .failed, "\(place) ends at offset \(end), so --through must be below it; nothing was changed")
        }
    }
}

extension PartitionRow {
    fileprivate var json: JSONOutput {
        .object([
            "topic": .text(partition.topic), "partition": .number(Int64(partition.partition)),
            "next": next.map { .number($0) } ?? .absent, "starts": .count(starts), "owner": .text(owner),
        ])
    }
}
