import CommandParser
import Configuration
import Contract
import Kafka
import Ledger
import Worker

enum CheckCommand {
    private static let settings = Parameter.flag("settings", help: "Show every setting and where its value comes from.")

    static let command = Command<CommandContext>(
        "check",
        "Checks configuration, broker, topics, ledger, Apple and inventory services, each with a clear result.",
        discussion: """
            Changes nothing. Exits 0 if a worker can do its work, also with warnings, 1 if a check has failed, and 78 \
            where the configuration itself is refused, as run does. An outage of Apple's or of an inventory service's \
            is a warning: workers wait for its end. With --json the answer has checks, each with name, result and \
            detail, and their numbers.
            """,
        CommonOptions.answering + [settings], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let configuration = try arguments.configuration(context) { values throws(ConfigurationError) in
            try WorkerConfiguration(values)
        }
        try context.checkClients(configuration.kafka)
        let isJSON = arguments[CommonOptions.json]
        let lines = arguments[settings] ? configuration.lines : []
        if context.width != nil, !isJSON {
            try context.output(
                "Asking the brokers, the ledger, Apple and inventory services; each has its seconds to answer.\n\n")
        }
        let apple = try context.apple(configuration.apple)
        let kafka = KafkaCheck(settings: configuration.kafka, cluster: context.cluster(configuration.kafka))
        let (brokers, rights) = kafka.results()
        let (ledger, refusal) = ledger(configuration, kafka, rights, context)
        let results =
            brokers + ledger
            + configuration.signatureDoubts.map { CheckLine("Apple's signatures", .warning, $0.rawValue) }
            + AppleCheck(apple: apple, now: context.now).results(configuration.apps)
            + ServiceCheck(call: context.service).results(configuration.apps)
        try context.output(isJSON ? json(results, lines) : text(results, lines))
        if let refusal { throw refusal }
        if results.contains(where: { $0.outcome == .failed }) { throw CommandFailure(.failed, nil) }
    }

    private static func text(_ results: [CheckLine], _ lines: [SettingLine]) -> String {
        let checks = TextTable(header: ["CHECK", "RESULT", "DETAIL"], rows: results.map(\.row)).text()
        let settings = TextTable(
            header: ["KEY", "VALUE", "FROM"], rows: lines.map { [$0.name.key, $0.value, $0.source.rawValue] })
        let counts = counts(results).filter { $0.number > 0 }.map { "\($0.number) \($0.outcome.rawValue)" }
        return (lines.isEmpty ? "" : settings.text() + "\n") + checks
            + "\n\(results.count) checks: \(counts.joined(separator: ", "))\n"
    }

    private static func json(_ results: [CheckLine], _ lines: [SettingLine]) -> String {
        var members: [String: JSONOutput] = ["checks": .list(results.map(\.json))]
        for (outcome, number) in counts(results) { members[outcome.word] = .count(number) }
        if !lines.isEmpty {
            members["settings"] = .list(
                lines.map {
                    .object(["key": .text($0.name.key), "value": .text($0.value), "from": .text($0.source.rawValue)])
                })
        }
        return JSONOutput.object(members).text
    }

    private static func counts(_ results: [CheckLine]) -> [(outcome: CheckLine.Outcome, number: Int)] {
        CheckLine.Outcome.allCases.map { outcome in (outcome, results.count { $0.outcome == outcome }) }
    }

    /// The lines about the ledger's database, and about the ledger if nothing there keeps a worker from it.
    /// - Returns: Also the failure of a worker whose group knows more than the ledger.
    private static func ledger(
        _ configuration: WorkerConfiguration, _ kafka: KafkaCheck, _ rights: KafkaRights?, _ context: CommandContext
    ) -> ([CheckLine], CommandFailure?) {
        do throws(LedgerError) {
            let findings = try context.ledgers.examine(
                configuration.ledger, configuration.processing.prunes)
            let lines = findings.map {
                CheckLine("ledger \($0.subject)", $0.facts, failures: $0.failures, warnings: $0.warnings)
            }
            guard !lines.contains(where: { $0.outcome == .failed }) else { return (lines, nil) }
            let (line, refusal) = content(configuration, kafka, rights, context)
            return (lines + [line], refusal)
        } catch {
            return ([CheckLine("ledger", .failed, error.failure.message ?? "")], nil)
        }
    }

    /// Most owed rows that are counted, the first due ones. Rows of a service that the apps file does not name are
    /// among them: no worker takes them, so they stay due.
    private static let mostOwed = 1_000

    private static func content(
        _ configuration: WorkerConfiguration, _ kafka: KafkaCheck, _ rights: KafkaRights?, _ context: CommandContext
    ) -> (CheckLine, CommandFailure?) {
        let settings = configuration.ledger
        let committed: [TopicPartition: Int64]
        let doubt: String
        // Another line says that the group may not be read. A wait for its offsets would be in vain.
        switch rights?.group == .missing ? .success([:]) : kafka.committed() {
        case .success(let offsets): (committed, doubt) = (offsets, "")
        case .failure(let error):
            (committed, doubt) = ([:], "the group's offsets are not told: \(kafka.settings.words(error))")
        }
        do throws(LedgerError) {
            guard try context.ledgers.exists(settings) else {
                return absent(settings, isKnown: !committed.isEmpty, doubt)
            }
            let ledger = try context.ledgers.open(settings)
            let id = try ledger.identity()
            if let group = try? kafka.group(), let owner = try ledger.group(),
                let refusal = group.refusal(of: id, owner: owner)
            {
                return (
                    CheckLine("ledger", .failed, "\(id), which belongs to \(owner)"),
                    CommandFailure(.configuration, refusal)
                )
            }
            guard try ledger.knows(committed.keys.sorted()) else {
                return (
                    CheckLine("ledger", .failed, "\(id), which knows nothing of the group's offsets"),
                    CommandFailure(WorkerFailure.forgotten(ledger: id))
                )
            }
            let owed = try ledger.outbox(limit: mostOwed + 1)
            let facts = "\(id), \(owed.count > mostOwed ? "more than \(mostOwed)" : "\(owed.count)") owed"
            let partitions = try ledger.partitions()
            let warnings = [
                doubt, setBack(partitions, committed), otherTopics(partitions, kafka.settings),
                ServiceCheck.missing(owed, configuration.apps),
            ].filter { !$0.isEmpty }
            return (CheckLine("ledger", facts, failures: [], warnings: warnings), nil)
        } catch {
            return (CheckLine("ledger", .failed, error.failure.message ?? ""), nil)
        }
    }

    /// A worker commits what its ledger has as complete, so only a ledger that lost writes is behind its group. Offsets
    /// were asked for first, because workers may go on meanwhile.
    private static func setBack(_ partitions: [PartitionRow], _ committed: [TopicPartition: Int64]) -> String {
        let behind = partitions.reduce(Int64(0)) { sum, row in
            guard let next = row.next, let committed = committed[row.partition] else { return sum }
            return sum + max(0, committed - next)
        }
        guard behind > 0 else { return "" }
        return "it is \(Int(behind).of("record", "records")) behind its group, as after a restore or a failover; "
            + "workers read them again"
    }

    /// A worker publishes events of waiting submissions of any input topic on its own topics. A ledger that was
    /// accepted for these settings may have partitions of a former input topic, whose other records no worker reads.
    private static func otherTopics(_ partitions: [PartitionRow], _ settings: KafkaSettings) -> String {
        let others = Set(partitions.map(\.partition.topic)).subtracting([settings.topics[.submitted]])
        guard !others.isEmpty else { return "" }
        let names = PrintableText.singleLine(others.sorted().joined(separator: ", "))
        return "it has partitions of \(names), which these settings do not read; what waits of them is told on the "
            + "topics of these settings"
    }

    /// - Parameter isKnown: Whether the group has committed offsets, so that there was a ledger.
    private static func absent(
        _ settings: LedgerSettings, isKnown: Bool, _ doubt: String
    ) -> (CheckLine, CommandFailure?) {
        if isKnown {
            let detail = "there is none, and the group has committed offsets: grantor run would end with 78"
            return (CheckLine("ledger", .failed, detail), CommandFailure(.configuration, "the ledger: \(detail)"))
        }
        let rest = doubt.isEmpty ? "" : "; " + doubt
        return switch settings {
        case .sqlite:
            (CheckLine("ledger", .warning, "there is none yet; grantor migrate or grantor run makes it" + rest), nil)
        case .postgres: (CheckLine("ledger", .failed, "there is none yet; grantor migrate makes it" + rest), nil)
        }
    }
}

/// A line of what `grantor check` found.
struct CheckLine: Hashable, Sendable {
    enum Outcome: String, Hashable, Sendable, CaseIterable {
        case good = "ok"
        /// Works, and is not as it should be.
        case warning = "warning"
        case failed = "FAILED"

        /// In JSON.
        var word: String { rawValue.lowercased() }
    }

    let name: String
    let outcome: Outcome
    let detail: String

    init(_ name: String, _ outcome: Outcome, _ detail: String) {
        self.name = name
        self.outcome = outcome
        self.detail = detail
    }

    /// The findings, each with its fault.
    init(_ name: String, _ facts: String, failures: [String], warnings: [String]) {
        let outcome: Outcome = failures.isEmpty ? warnings.isEmpty ? .good : .warning : .failed
        self.init(name, outcome, ([facts] + failures + warnings).joined(separator: "; "))
    }

    /// Apple does not reply.
    /// - Parameter isApples: Whether Apple, or the way to it, may be well again by itself.
    init(_ name: String, apple detail: String, isApples: Bool) {
        self.init(
            name, isApples ? .warning : .failed,
            detail + (isApples ? "; workers wait for Apple, if it is not this host that cannot reach it" : ""))
    }

    var row: [String] { [name, outcome.rawValue, detail] }

    var json: JSONOutput {
        .object(["name": .text(name), "result": .text(outcome.word), "detail": .text(detail)])
    }
}
