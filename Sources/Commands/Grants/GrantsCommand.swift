import CommandParser
import Contract
import Ledger

/// `grantor grants`.
enum GrantsCommand {
    private static let transaction = Argument<String?>.optional(
        "transaction", .text, help: "Only those of this transaction or original transaction.")
    private static let submission = Option<String?>.optional(
        "submission", .text, help: "Only those of this submission.")
    private static let order = Option<String?>.optional(
        "order", .text, help: "Only those of this order; without --user or --app every grant is read."
    ).takingHyphens()

    static let command = Command<CommandContext>(
        "grants", "Shows what was granted.",
        subcommands: [
            Command(
                "show", "Shows grants, the latest first. Name a transaction, a user, an order, a submission or an app.",
                CommonOptions.answering + CommonOptions.paging
                    + [CommonOptions.user, CommonOptions.app, order, submission, transaction], run: show)
        ])

    private static func show(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        var query = GrantQuery(
            bundleID: try arguments[CommonOptions.app].map { BundleID($0) },
            userID: try arguments[CommonOptions.user].map { UserID($0) },
            orderID: try arguments[order].map { OrderID($0) },
            transactionID: try arguments[transaction].map { TransactionID($0) },
            submissionID: try arguments[submission].map { SubmissionID($0) },
            limit: try arguments[CommonOptions.limit])
        guard query != GrantQuery(limit: query.limit) else {
            throw .usage("name a transaction, --user, --order, --submission or --app")
        }
        query.before = try arguments[CommonOptions.before]
        let rows = try arguments.ledger(context) { [query] ledger throws(LedgerError) in try ledger.grants(query) }
        let listing = GrantListing(
            rows: rows, next: CommonOptions.next(after: rows.map(\.sequence), limit: query.limit))
        try context.output(arguments.format(context).render(json: listing.json) { listing.text(width: $0) })
        if rows.isEmpty { throw CommandFailure(.failed, "no grants found") }
    }
}
