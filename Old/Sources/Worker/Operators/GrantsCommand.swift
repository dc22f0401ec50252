import ArgumentParser
import Foundation
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

    @Argument(help: "The id of a grant, or of a transaction (digits only).")
    var id: String?

    @Option(name: .long, help: "Only those of this transaction or original transaction.")
    var transaction: String?

    @Option(name: .long, parsing: .unconditional, help: "Only those of this user.")
    var user: String?

    @Option(name: .long, help: "Only those of the app with this bundle id.")
    var app: String?

    private var filter: GrantFilter {
        GrantFilter(
            grantID: isTransaction ? nil : id.map { GrantID($0) },
            transactionID: (isTransaction ? id : transaction).map { TransactionID($0) },
            userID: user.map { UserID($0) }, bundleID: app.map { BundleID($0) })
    }

    /// Apple's ids are digits; a grant's is a UUID, which has hyphens.
    private var isTransaction: Bool {
        id.map { !$0.isEmpty && $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } } ?? false
    }

    func validate() throws {
        if let id, !isTransaction, UUID(uuidString: id) == nil {
            let id = PrintableText.singleLine(id)
            throw ValidationError("\"\(id)\" is neither the id of a grant (a UUID) nor of a transaction (digits)")
        }
        guard filter != GrantFilter() else {
            throw ValidationError("name a grant, a transaction, --user or --app")
        }
        guard !isTransaction || transaction == nil else {
            throw ValidationError("name the transaction once: as the argument or with --transaction")
        }
    }

    func run() async throws {
        let (filter, page) = (filter, paging.page)
        try await options.answer { ledger, format async throws(LedgerError) in
            try await GrantQuestions(ledger: ledger, format: format).show(filter, page: page)
        }
    }
}
