import CommandParser
import Contract
import Ledger

enum FindCommand {
    private static let word = Parameter.argument(
        "word", .text,
        help: "A submission, user, order, transaction or original transaction; one that begins with a hyphen stands "
            + "after --.")

    static let command = Command<CommandContext>(
        "find", "Finds submissions by whatever id is known of them, in all apps.",
        discussion: """
            One look through all that waits, was answered or granted, and through what is still owed of it. Original \
            transactions are found of purchases that are granted once for them. The id of an event is found nowhere: \
            its submission and its transaction stand in the event.
            """,
        CommonOptions.tabulating + [CommonOptions.limit, word], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (word, limit) = (try arguments[word], try arguments[CommonOptions.limit])
        let result = try arguments.ledger(context) { ledger throws(LedgerError) in
            try ledger.find(word, limit: limit)
        }
        let now = context.now()
        try context.output(
            arguments.format(context).render(json: result.json) { width in result.text(now: now, width: width) })
        if result.hits.isEmpty {
            throw CommandFailure(
                .failed,
                "nothing in the ledger has the id \"\(PrintableText.singleLine(word))\": it is not read or not verified "
                    + "yet, stands on the quarantine topic, or was never submitted")
        }
    }
}

extension SearchResult {
    var json: JSONOutput {
        let found = hits.map { hit in
            let own: [String: JSONOutput] = [
                "foundAs": .list(hit.meanings.map { .word($0) }),
                "owed": .list(hit.owed.map { OwedReport(row: $0).json }),
            ]
            return JSONOutput.object(hit.row.members.merging(own) { member, _ in member })
        }
        return .object(["found": .list(found), "hasMore": .truth(hasMore)])
    }

    func text(now: Timestamp, width: Int?) -> String {
        var text = ""
        if !hits.isEmpty {
            let rows = hits.map { hit in
                let owed = hit.owed.map { OwedReport(row: $0).kind }.joined(separator: ", ")
                return Self.line(
                    hit.row.cells(now: now), foundAs: hit.meanings.map(\.rawValue).joined(separator: ", "),
                    owed: owed.isEmpty ? "-" : owed)
            }
            let header = Self.line(SubmissionRow.header, foundAs: "FOUND AS", owed: "OWED")
            text = TextTable(header: header, rows: rows, keepsFirst: true).withoutEmptyColumns().text(maxWidth: width)
        }
        if hasMore { text += "More exist than these \(hits.count); --limit shows more, a list goes through all.\n" }
        return text
    }

    private static func line(_ cells: [String], foundAs: String, owed: String) -> [String] {
        var cells = cells
        cells.insert(foundAs, at: 1)
        cells.append(owed)
        return cells
    }
}
