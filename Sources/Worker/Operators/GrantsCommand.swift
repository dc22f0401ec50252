import ArgumentParser
import Ledger
import Purchases

/// `grantor grants`.
struct GrantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants", abstract: "Shows what was granted.", subcommands: [ShowGrantsCommand.self])
}

/// `grantor grants show`.
struct ShowGrantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows grants, the latest first. Name a grant, a transaction, a user or an app.")

    @OptionGroup var options: AnswerOptions
    @OptionGroup var paging: PageOptions

    @Argument(help: "The grant's id.")
    var id: String?

    @Option(name: .long, help: "Only those of this transaction or original transaction.")
    var transaction: String?

    @Option(name: .long, help: "Only those of this user.")
    var user: String?

    @Option(name: .long, help: "Only those of the app with this bundle id.")
    var app: String?

    private var filter: GrantFilter {
        GrantFilter(
            grantID: id.map { GrantID($0) }, transactionID: transaction.map { TransactionID($0) },
            userID: user.map { UserID($0) }, bundleID: app.map { BundleID($0) })
    }

    func validate() throws {
        guard filter != GrantFilter() else {
            throw ValidationError("name a grant id, --transaction, --user or --app")
        }
    }

    func run() async throws {
        let (filter, page) = (filter, paging.page)
        try await options.answer { ledger, format async throws(LedgerError) in
            try await GrantQuestions(ledger: ledger, format: format).show(filter, page: page)
        }
    }
}
