import CommandParser
import Contract
import Ledger

enum GrantsCommand {
    private static let transaction = Parameter<String?>.argument(
        "transaction", .text, help: "Only those of this transaction or original transaction.")
    private static let submission = Parameter<String?>.option(
        "submission", .text, help: "Only those of this submission.")
    private static let order = Parameter<String?>.option(
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
        if rows.isEmpty {
            throw CommandFailure(
                .failed,
                "no grants found; grantor submissions list --state retrying, held or failed shows what has none")
        }
    }
}

/// A page of grants, for people and as JSON.
struct GrantListing: Sendable {
    let rows: [GrantRow]
    let next: Int64?

    /// Empty without a grant.
    func text(width: Int?) -> String {
        guard !rows.isEmpty else { return "" }
        let table = TextTable(
            header: [
                "TRANSACTION", "APP", "USER", "PRODUCT", "GIVES", "ENVIRONMENT", "SUBMISSION", "GRANTED", "GRANT",
            ],
            rows: rows.map { row in
                let grant = row.grant
                return [
                    grant.transactionID.rawValue, grant.bundleID.rawValue, grant.userID.rawValue,
                    grant.productID.rawValue, Self.items(of: grant), grant.environment.rawValue,
                    grant.submissionID.rawValue, grant.grantedAt.rfc3339, grant.key.grantID.rawValue,
                ]
            }, keepsFirst: true)
        return table.text(maxWidth: width) + (next.map { "More: --before \($0)\n" } ?? "")
    }

    /// The items of a grant, such as `100 gems, 1 vip`.
    static func items(of grant: Grant) -> String {
        grant.items.map { "\($0.quantity) \($0.item)" }.joined(separator: ", ")
    }

    var json: JSONAnswer {
        .object(["grants": .list(rows.map(\.grant.json)), "next": next.map { .number($0) } ?? .absent])
    }
}

extension Grant {
    var json: JSONAnswer {
        let grantID = key.grantID
        return .object([
            "grantId": .id(grantID), "key": .text(key.text), "eventId": .id(GrantedEvent.id(of: grantID)),
            "submissionId": .id(submissionID), "bundleId": .id(bundleID), "userId": .id(userID),
            "orderId": .id(orderID), "productId": .id(productID), "productType": .word(productType),
            "quantity": .count(quantity), "items": .list(items.map(\.json)), "transactionId": .id(transactionID),
            "originalTransactionId": .id(originalTransactionID), "environment": .word(environment),
            "purchasedAt": .time(purchasedAt), "expiresAt": .time(expiresAt), "verifiedBy": .text(verifiedBy),
            "attempts": .count(attempts), "receivedAt": .time(receivedAt), "grantedAt": .time(grantedAt),
            "origin": origin.json,
        ])
    }
}

extension Item {
    var json: JSONAnswer { .object(["item": .text(item), "quantity": .count(quantity)]) }
}

extension Origin {
    var json: JSONAnswer {
        .object(["topic": .text(topic), "partition": .number(Int64(partition)), "offset": .number(offset)])
    }
}
