public import ArgumentParser
public import Ledger
import Purchases

/// `grantor submissions`.
struct SubmissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submissions",
        abstract: "Shows what became of submissions, and decides about those that wait.",
        subcommands: [
            ListSubmissionsCommand.self, ShowSubmissionCommand.self, RetrySubmissionsCommand.self,
            AbandonSubmissionCommand.self,
        ])
}

/// `grantor submissions list`.
struct ListSubmissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists submissions, the latest first.")

    @OptionGroup var options: AnswerOptions
    @OptionGroup var paging: PageOptions

    @Option(name: [.customLong("state"), .customLong("outcome")], help: "Only those with this outcome.")
    var outcome: RecordedOutcome?

    @Option(name: .long, help: "Only those that failed or wait for this reason, such as noAnswer.")
    var cause: String?

    @Option(name: .long, help: "Only those about this transaction.")
    var transaction: String?

    @Option(name: .long, help: "Only those received so long ago or longer, such as 30m, 2h or 3d.")
    var olderThan: String?

    @Option(name: .long, help: "Only those of the app with this bundle id.")
    var app: String?

    @Option(name: .long, parsing: .unconditional, help: "Only those of this user.")
    var user: String?

    @Option(name: .long, parsing: .unconditional, help: "Only those of this order.")
    var order: String?

    func validate() throws {
        guard let cause, FailureReason(rawValue: cause) == nil, WaitingCause(word: cause) == nil else { return }
        let known = FailureReason.allCases.map(\.rawValue) + WaitingCause.words
        throw ValidationError("nothing fails or waits for \"\(cause)\"; causes are \(known.joined(separator: ", "))")
    }

    private var age: Duration? {
        get throws {
            guard let olderThan else { return nil }
            guard let age = DurationText.parse(olderThan) else {
                throw ExitStatus.usage.saying("--older-than takes a duration such as 30m, 2h or 3d")
            }
            return age
        }
    }

    func run() async throws {
        let filter = SubmissionFilter(
            outcome: outcome, bundleID: app.map { BundleID($0) }, userID: user.map { UserID($0) },
            orderID: order.map { OrderID($0) }, reason: cause, transactionID: transaction.map { TransactionID($0) },
            receivedUntil: try age.map { CommandClock.now().advanced(by: .zero - $0) })
        let page = paging.page
        try await options.answer { ledger, format async throws(LedgerError) in
            try await SubmissionQuestions(ledger: ledger, format: format).list(filter, page: page)
        }
    }
}

/// `grantor submissions show`.
struct ShowSubmissionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Tells all about one submission: its outcome, its grants, its events.")

    @OptionGroup var options: AnswerOptions

    @Argument(help: "The submission's id; one that begins with a hyphen stands after --.")
    var id: String

    @Option(name: .long, help: "Only that of the app with this bundle id.")
    var app: String?

    func run() async throws {
        let (id, app) = (SubmissionID(id), app.map { BundleID($0) })
        try await options.answer { ledger, format async throws(LedgerError) in
            try await SubmissionQuestions(ledger: ledger, format: format).show(id, of: app)
        }
    }
}

extension RecordedOutcome: ExpressibleByArgument {}
