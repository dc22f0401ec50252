import CommandParser
import Contract
import Ledger

enum OutboxCommand {
    static let command = Command<CommandContext>(
        "outbox", "Shows events and calls that are still owed.",
        subcommands: [
            Command(
                "list", "Lists what is owed, first what is due first.",
                discussion: "It is nearly empty at all times, but for outages of Kafka or of an inventory service.",
                CommonOptions.tabulating + [CommonOptions.limit], run: list)
        ])

    private static func list(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let limit = try arguments[CommonOptions.limit]
        // One more than are shown says whether there are more.
        let (found, later) = try arguments.ledger(context) { ledger throws(LedgerError) in
            (try ledger.outbox(limit: limit + 1), try ledger.laterOwed())
        }
        let (rows, now) = (found.prefix(limit), context.now())
        let table = TextTable(
            header: ["OWED", "KIND", "TO", "SINCE", "NEXT TRY", "ATTEMPTS", "ANSWER"],
            rows: rows.map { row in
                let report = OwedReport(row: row)
                let next = NextTry(row, now: now).short
                return [
                    row.key.text, report.kind, report.target, row.owedSince.rfc3339, next, String(row.attempts),
                    report.answer ?? "-",
                ]
            }, keepsFirst: true)
        let hasMore = found.count > limit
        let json = JSONOutput.object([
            "outbox": .list(
                rows.map { .object(OwedReport(row: $0).members.merging(["key": .text($0.key.text)]) { $1 }) }),
            "hasMore": .truth(hasMore), "laterRows": later == 0 ? .absent : .count(later),
        ])
        try context.output(
            arguments.format(context).render(json: json) { width in
                guard !rows.isEmpty else { return later == 0 ? "Nothing is owed.\n" : "" }
                return table.withoutEmptyColumns().text(maxWidth: width)
                    + (hasMore ? "More exist; --limit shows more.\n" : "")
            })
        if later > 0 { throw .ofLater(later) }
    }
}
