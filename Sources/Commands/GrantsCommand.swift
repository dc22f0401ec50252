import CommandParser
import Contract
import Ledger

/// `grantor grants`.
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
        if rows.isEmpty { throw CommandFailure(.failed, "no grants found") }
    }
}

/// A page of grants, for people and as JSON.
struct GrantListing: Sendable {
    let rows: [GrantRow]
    /// Where the next page begins; nil after the last.
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

    var json: JSON { JSON(grants: rows.map { GrantJSON($0.grant) }, next: next) }

    struct JSON: Encodable {
        let grants: [GrantJSON]
        let next: Int64?
    }
}

/// A grant as JSON.
struct GrantJSON: Encodable {
    struct ItemJSON: Encodable {
        let item: String
        let quantity: Int
    }

    let grantId, key, eventId, submissionId, bundleId, userId: String
    let orderId: String?
    let productId, productType: String
    let quantity: Int
    let items: [ItemJSON]
    let transactionId, originalTransactionId, environment, purchasedAt: String
    let expiresAt: String?
    let verifiedBy: String
    let attempts: Int
    let receivedAt, grantedAt: String
    let origin: OriginJSON

    init(_ grant: Grant) {
        let grantID = grant.key.grantID
        grantId = grantID.rawValue
        key = grant.key.text
        eventId = GrantedEvent.id(of: grantID).rawValue
        submissionId = grant.submissionID.rawValue
        bundleId = grant.bundleID.rawValue
        userId = grant.userID.rawValue
        orderId = grant.orderID?.rawValue
        productId = grant.productID.rawValue
        productType = grant.productType.rawValue
        quantity = grant.quantity
        items = grant.items.map { ItemJSON(item: $0.item, quantity: $0.quantity) }
        transactionId = grant.transactionID.rawValue
        originalTransactionId = grant.originalTransactionID.rawValue
        environment = grant.environment.rawValue
        purchasedAt = grant.purchasedAt.rfc3339
        expiresAt = grant.expiresAt?.rfc3339
        verifiedBy = grant.verifiedBy
        attempts = grant.attempts
        receivedAt = grant.receivedAt.rfc3339
        grantedAt = grant.grantedAt.rfc3339
        origin = OriginJSON(grant.origin)
    }
}

/// The place of a record as JSON.
struct OriginJSON: Encodable {
    let topic: String
    let partition: Int32
    let offset: Int64

    init(_ origin: Origin) {
        topic = origin.topic
        partition = origin.partition
        offset = origin.offset
    }
}
