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
                "nothing in the ledger has the id \"\(PrintableText.singleLine(word))\": \(SubmissionWords.ofUnknown)")
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

    /// A block for each hit: what it is, what came of it in sentences, and its ids, whole and ready to be copied.
    func text(now: Timestamp, width: Int?) -> String {
        var text = hits.map { $0.text(now: now, width: width) }.joined(separator: "\n")
        if hasMore { text += "\nMore exist than these \(hits.count); --limit shows more, a list goes through all.\n" }
        return text
    }
}

extension SearchResult.Hit {
    fileprivate func text(now: Timestamp, width: Int?) -> String {
        let title = row.claimant.submissionID.rawValue
        let cause = row.cause.map { ": \($0)" } ?? ""
        let untold = row.cause == nil && !owed.isEmpty ? ", not told yet" : ""
        return PrintableText.singleLine("\(title)  \(row.state.rawValue)\(cause)\(untold)") + "\n"
            + TextParagraph.text(row.words(owed: owed, now: now).sentences, width)
            + TextParagraph.text([facts.map { "\($0) \($1)" }.joined(separator: ", ")], width)
    }

    private var facts: [(name: String, value: String)] {
        let (claimant, moments) = (row.claimant, [("received", row.receivedAt), (row.state.rawValue, row.decidedAt)])
        let all: [(name: String, value: String?)] =
            [
                ("found as", meanings.map { $0.rawValue.replacing("_", with: " ") }.joined(separator: " and ")),
                ("user", claimant.userID.rawValue), ("order", claimant.orderID?.rawValue),
                ("app", claimant.bundleID.rawValue.isEmpty ? nil : claimant.bundleID.rawValue),
                ("product", row.productID?.rawValue), ("transaction", row.transactionID?.rawValue),
            ] + moments.map { ($0, $1?.rfc3339) }
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}
