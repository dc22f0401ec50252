import CommandParser
import Configuration
import Contract
import Kafka
import Ledger

enum QuarantineCommand {
    private static let place = Parameter.argument(
        "place", .quarantinePlace, help: "The record's partition and offset on the quarantine topic, as list shows it.")
    private static let value = Parameter.flag(
        "value",
        help: "Write the record's value alone, byte by byte, into a file or a pipe: it may hold evidence, which is "
            + "worth a purchase. A terminal gets it as text in one line.")

    static let command = Command<CommandContext>(
        "quarantine", "Shows records that hold no submission, and submits them again.",
        subcommands: [
            Command(
                "list", "Lists the latest records of the quarantine topic, with why each was put there.",
                discussion: """
                    Each partition is read from its end backwards, at most --limit records of it. The user of these \
                    settings needs Read on the topic.
                    """,
                CommonOptions.tabulating + [CommonOptions.limit], run: list),
            Command(
                "show", "Shows one record: where it came from, why it was quarantined, its headers and its size.",
                CommonOptions.answering + [value, place], run: show),
            Command(
                "resubmit", "Writes one record into the input topic again, as it came there first.",
                discussion: """
                    For records that a later version can read. The record has its key, its value and its own headers. \
                    It is a new record: a submission that has its answer meanwhile gets the same answer again. A \
                    subscription that has ended meanwhile fails, because it counts as submitted now. The user of these \
                    settings needs Write on the input topic. Who does this and why is written into the \
                    ledger first.
                    """,
                CommonOptions.answering + [CommonOptions.actor, CommonOptions.reason, place], run: resubmit),
        ])

    private static func list(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let settings = try arguments.kafkaSettings(context)
        let limit = try arguments[CommonOptions.limit]
        var rows: [QuarantinedRecord] = []
        let leftOut: Int64
        do throws(KafkaError) {
            leftOut = try context.quarantine(settings).latest(limit) { rows.append(QuarantinedRecord($0)) }
        } catch {
            throw refused(error, settings)
        }
        rows.sort { ($0.at ?? .distantPast, $0.place) > ($1.at ?? .distantPast, $1.place) }
        let hasMore = leftOut > 0 || rows.count > limit
        rows = Array(rows.prefix(limit))
        let table = TextTable(
            header: ["PLACE", "AT", "REASON", "KEY", "ORIGIN", "BYTES"],
            rows: rows.map {
                [$0.place.text, $0.at?.rfc3339 ?? "-", $0.reason, $0.key ?? "-", $0.origin, "\($0.size)"]
            },
            keepsFirst: true)
        let json = JSONOutput.object([
            "records": .list(rows.map { $0.json(withHeaders: false) }), "hasMore": .truth(hasMore),
        ])
        try context.output(
            arguments.format(context).render(json: json) { width in
                (rows.isEmpty ? "No records.\n" : table.text(maxWidth: width))
                    + (hasMore ? "More exist; --limit shows more.\n" : "")
            })
    }

    private static func show(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (record, _) = try record(arguments, context)
        let shown = QuarantinedRecord(record)
        guard !arguments[value] else { return try write(record, shown, context) }
        let fields = [
            ("at", shown.at?.rfc3339 ?? "-"), ("reason", shown.reason), ("origin", shown.origin),
            ("key", shown.key ?? "-"), ("bytes", "\(shown.size)"),
            ("sha256", shown.digest),
        ]
        let headers = shown.headers
        try context.output(
            arguments.format(context).render(json: shown.json(withHeaders: true)) { _ in
                TextFields.title("Record", shown.place.text) + TextFields(fields: fields).text()
                    + (headers.isEmpty
                        ? ""
                        : "Headers as it came\n" + TextFields(fields: headers.map { ($0.name, $0.value ?? "-") }).text())
            })
    }

    /// A stranger's bytes must not steer a terminal, and a file is to have each of them.
    private static func write(
        _ record: InputRecord, _ shown: QuarantinedRecord, _ context: CommandContext
    ) throws(CommandFailure) {
        guard !shown.isStub else { throw noValue(shown) }
        let value = record.value ?? []
        guard context.width == nil else {
            return try context.output(PrintableText.singleLine(String(decoding: value, as: UTF8.self)) + "\n")
        }
        try context.bytes(value)
    }

    private static func noValue(_ stub: QuarantinedRecord) -> CommandFailure {
        CommandFailure(
            .failed,
            "record \(stub.place.text) has no value: it stands for a record that could not be written here, which is at "
                + "\(stub.origin) for as long as Kafka keeps it")
    }

    private static func resubmit(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (record, settings) = try record(arguments, context)
        let shown = QuarantinedRecord(record)
        guard !shown.isStub else { throw noValue(shown) }
        let topic = settings.topics[.submitted]
        let note = try arguments.note(context).about("\(settings.topics[.quarantined])/\(shown.place.text)")
        let sender = try context.sender(settings, [.submitted])
        defer { sender.close() }
        try arguments.ledger(context) { ledger throws(LedgerError) in try ledger.note(.resubmit, note) }
        let origins: [Origin]
        do throws(KafkaRefusal) {
            origins = try sender.send([
                KafkaProducerRecord(
                    topic: topic, key: record.key, value: record.value, headers: shown.own)
            ])
        } catch {
            throw CommandFailure(.failed, Self.words(error, of: topic))
        }
        let origin = origins.first.map { "\($0)" } ?? topic
        let json: JSONOutput = .object(["record": .text(shown.place.text), "origin": .text(origin)])
        try context.output(
            arguments.format(context).render(json: json) { _ in
                "Record \(shown.place.text) is submitted again, as \(origin).\n"
            })
    }

    private static func words(_ refusal: KafkaRefusal, of topic: String) -> String {
        switch refusal {
        case .timedOut, .clientReplaced, .closed:
            "\(topic) has not acknowledged the record in time; it may stand there all the same"
        case .notAuthorized: "this user has no right to write into \(topic)"
        case .tooLarge, .topicUnknown, .other:
            "\(topic) does not take the record: \(PrintableText.singleLine(refusal.words))"
        }
    }

    private static func record(
        _ arguments: ParsedArguments, _ context: CommandContext
    ) throws(CommandFailure) -> (InputRecord, KafkaSettings) {
        let settings = try arguments.kafkaSettings(context)
        let place = try arguments[place]
        do throws(KafkaError) {
            if let record = try context.quarantine(settings).record(place) { return (record, settings) }
        } catch {
            throw refused(error, settings)
        }
        throw CommandFailure(.failed, "\(settings.topics[.quarantined]) has no record at \(place.text), or no longer")
    }

    private static func refused(_ error: KafkaError, _ settings: KafkaSettings) -> CommandFailure {
        CommandFailure(
            .failed, "Kafka at \(settings.bootstrapServers) does not answer as it should: \(settings.words(error))")
    }
}
