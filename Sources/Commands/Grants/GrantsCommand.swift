import CommandParser
import Contract
import Ledger

enum GrantsCommand {
    private static let transaction = Parameter<TransactionID?>.argument(
        "transaction", .id(), help: "Only those of this transaction or original transaction.")
    private static let order = Parameter<OrderID?>.option(
        "order", .id(), help: "Only those of this order."
    ).takingHyphens()

    static let command = Command<CommandContext>(
        "grants", "Shows what was granted, and takes over what another system granted.",
        subcommands: [
            Command(
                "show", "Shows grants, the latest first. Name a transaction, a user, an order, a submission or an app.",
                CommonOptions.tabulating
                    + [
                        CommonOptions.limit, CommonOptions.before, CommonOptions.user, CommonOptions.app, order,
                        CommonOptions.submission, transaction,
                    ], run: show),
            ImportCommand.command,
        ])

    private static func show(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        var query = GrantQuery(
            bundleID: try arguments[CommonOptions.app], userID: try arguments[CommonOptions.user],
            orderID: try arguments[order], transactionID: try arguments[transaction],
            submissionID: try arguments[CommonOptions.submission], limit: try arguments[CommonOptions.limit])
        guard query != GrantQuery(limit: query.limit) else {
            throw .usage("name a transaction, --user, --order, --submission or --app")
        }
        query.before = try arguments[CommonOptions.before]
        let part = try arguments.ledger(context) { [query] ledger throws(LedgerError) in try ledger.part(of: query) }
        let rows = part.rows
        let table = TextTable(
            header: [
                "TRANSACTION", "APP", "USER", "PRODUCT", "GIVES", "ENVIRONMENT", "SUBMISSION", "GRANTED", "GRANT",
            ],
            rows: rows.map(\.grant.cells), keepsFirst: true)
        try context.output(
            arguments.format(context).page(
                "grants", table, rows.map(\.grant.json),
                next: (part.rest ?? (rows.count < query.limit ? nil : rows.last?.sequence)).map { String($0) },
                isCut: part.rest != nil))
        // The page behind the last one is empty, too.
        if rows.isEmpty, part.rest == nil, query.before == nil {
            throw CommandFailure(.failed, "no grants found; grantor submissions list shows what has none")
        }
    }
}

extension Grant {
    /// Its row in a list.
    fileprivate var cells: [String] {
        [
            transactionID.rawValue, bundleID.rawValue, userID.rawValue, productID.rawValue, itemsText,
            environment.rawValue, submissionID.rawValue, grantedAt.rfc3339, key.grantID.rawValue,
        ]
    }
}
