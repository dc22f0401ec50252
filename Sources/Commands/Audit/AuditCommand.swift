import Audit
import CommandParser
import Configuration
import Contract
import Glibc
import Kafka
import Ledger

enum AuditCommand {
    private static let since = Parameter<Timestamp?>.option(
        "since", .moment,
        help: "Look only at records, rows and events from this moment on. With --checkpoint the later of both counts.")
    private static let checkpoint = Parameter<String?>.option(
        "checkpoint", .text,
        help: "A file that says where the next audit goes on: read if it is there, written after an audit that holds.")
    private static let folder = Parameter<String?>.option(
        "folder", .text, help: "Folder for temporary files, some 160 bytes for each purchase; else TMPDIR or /tmp.")
    private static let limit = Parameter.option(
        "limit", .integer(0...CommonOptions.maxLimit), default: 20,
        help: "Most inconsistencies that are named, 0 to \(CommonOptions.maxLimit); --json names all that are kept.")
    private static let repair = ChangeOptions(
        "repair", help: "Put events that were never told into the outbox; workers publish them.")

    static let command = Command<CommandContext>(
        "audit", "Compares the ledger with its topics.",
        discussion: """
            Every record that was passed has its outcome. Every grant and failure has its event on the topic, byte for \
            byte, or owes it. Nothing is on a topic that no row tells. No purchase was granted twice. Workers may run \
            meanwhile, and a standby of PostgreSQL will do. Nothing is changed without --repair. Ends with 0 if \
            everything was looked at and holds, with 1 if something is broken, and with 2 if something could not be \
            looked at, such as records that have left their topic.
            """,
        CommonOptions.tabulating + [since, checkpoint, folder, limit] + repair.all, run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let note = try repair.note(arguments, context)
        let (kafka, settings) = (try arguments.kafkaSettings(context), try arguments.ledgerSettings(context))
        let file = try arguments[checkpoint].map(AuditCheckpointFile.init)
        let asked = try arguments[since]
        let id = try identity(settings, kafka, context)
        let checkpoint = try file?.read(ledger: id)
        let next = checkpoint?.next
        // Records may have left their topics since the last audit that held. A person then says where to go on: without
        // that, no later audit could hold, and none would write the file.
        let since = [asked, next].compactMap(\.self).max()
        if let since, since > context.now() {
            throw .usage("\(since) is still to come: nothing since then could be looked at")
        }
        let report = try audit(
            kafka, settings, since: since, judged: checkpoint?.judged ?? [:],
            folder: try arguments[folder] ?? temporaryFolder(context.environment), context)
        var repaired = note.map { _ in 0 }
        var failure: CommandFailure?
        if let note {
            do throws(CommandFailure) {
                try mend(report, note, arguments, context) { repaired = $0 }
            } catch {
                failure = error
                if repaired == 0 { repaired = nil }
            }
        }
        let skipped = next.flatMap { next in asked.flatMap { next < $0 ? next : nil } }
        let output = AuditOutput(report: report, repaired: repaired, skippedFrom: skipped)
        let limit = try arguments[limit]
        do throws(CommandFailure) {
            try context.output(
                arguments.format(context).render(json: output.json) { output.text(limit: limit, width: $0) })
        } catch {
            // The answer is lost. The exit code still says whether something is broken.
            let messages = [failure?.message, error.message].compactMap { $0 }
            throw CommandFailure(
                output.end?.status == .failed ? .failed : .incomplete, messages.joined(separator: "; "))
        }
        if let failure {
            // A failed repair takes nothing back of what was found.
            let isBroken = report.verdict == .broken
            let end = isBroken ? .failed : failure.status == .failed ? ExitStatus.incomplete : failure.status
            let done = repaired.map { "\($0.of("event was", "events were")) put into the outbox" }
            // A ledger that gave no answer may have done more.
            let words =
                failure.status == .failed
                ? [done, failure.message].compactMap(\.self).joined(separator: "; then ")
                : "\(done.map { "only \($0)" } ?? "nothing was repaired"): \(failure.message ?? "")"
            throw CommandFailure(end, words)
        }
        if report.verdict == .holds { try file?.write(ledger: id, .init(next: report.next, judged: report.judged)) }
        if let end = output.end { throw end }
    }

    /// TMPDIR, or /tmp where it is not set or empty.
    static func temporaryFolder(_ environment: [String: String]) -> String {
        environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    private static func identity(
        _ settings: LedgerSettings, _ kafka: KafkaSettings, _ context: CommandContext
    ) throws(CommandFailure) -> String {
        do throws(LedgerError) {
            return try context.ledgers.openAudited(settings).ledger.identity()
        } catch {
            throw AuditError.ledger(error).failure(kafka)
        }
    }

    private static func audit(
        _ kafka: KafkaSettings, _ settings: LedgerSettings, since: Timestamp?, judged: [TopicPartition: Int64],
        folder: String, _ context: CommandContext
    ) throws(CommandFailure) -> AuditReport {
        let names = Dictionary(uniqueKeysWithValues: kafka.topics.inUse.map { ($0, kafka.topics[$0]) })
        let check = KafkaCheck(settings: kafka, cluster: context.cluster(kafka))
        var progress = Progress(context)
        defer { progress.end() }
        do throws(AuditError) {
            let group: ConsumerGroup
            do throws(KafkaError) { group = try check.group() } catch { throw AuditError.kafka(error) }
            let audit = Audit(
                topics: context.auditedTopics(kafka), names: names, group: group, folder: folder,
                openLedger: { () throws(LedgerError) in try context.ledgers.openAudited(settings) })
            return try audit.run(since: since, judged: judged, now: context.now()) { told in
                let part = told.recordsInAll == 0 ? 1 : Double(told.records) / Double(told.recordsInAll)
                progress.show(part, "\(told.records) records and \(told.rows) rows")
            }
        } catch {
            throw error.failure(kafka)
        }
    }

    /// Most events of one transaction.
    private static let mostAtOnce = 500

    /// - Parameter done: Hears after each transaction how many events were put into the outbox.
    private static func mend(
        _ report: AuditReport, _ note: OperatorNote, _ arguments: ParsedArguments, _ context: CommandContext,
        _ done: (Int) -> Void
    ) throws(CommandFailure) {
        guard !report.isOfAnother else {
            throw CommandFailure(.configuration, "the ledger is not of these settings' group, cluster and topics")
        }
        let untold = report.inconsistencies.compactMap(\.mend)
        guard !untold.isEmpty else { return }
        try arguments.ledger(context, changes: true) { ledger throws(LedgerError) in
            for start in stride(from: 0, to: untold.count, by: mostAtOnce) {
                let part = untold[start...].prefix(mostAtOnce)
                _ = try ledger.repair(Array(part), note)
                done(part.endIndex)
            }
        }
    }
}

extension AuditError {
    /// The end of a command that audited nothing.
    fileprivate func failure(_ settings: KafkaSettings) -> CommandFailure {
        switch self {
        case .kafka(let error):
            CommandFailure(
                error.disposition == .configuration ? .configuration : .incomplete,
                "nothing was audited: Kafka: \(settings.words(error))")
        case .ledger(let error):
            CommandFailure(
                error.failure.status == .failed ? .incomplete : error.failure.status,
                "nothing was audited: \(error.failure.message ?? "")")
        case .folder(let folder, let code):
            CommandFailure(
                .incomplete,
                "nothing was audited: temporary files in \(folder) (--folder): \(String(cString: strerror(code)))")
        case .tooManyPartitions(let count):
            CommandFailure(
                .incomplete, "nothing was audited: \(count) partitions are more than an audit can tell apart")
        case .noThread: CommandFailure(.incomplete, "nothing was audited: the system gives no thread")
        }
    }
}
