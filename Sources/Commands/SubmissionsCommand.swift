import CommandParser
import Configuration
import Contract
import Ledger

enum SubmissionsCommand {
    private static let state = Parameter<SubmissionState>.required("state", .choice, help: "Those with this outcome.")
    private static let cause = Parameter<String?>.option(
        "cause", causes, help: "Only those that failed or wait for this reason, such as no_answer.")
    private static let appOfOne = Parameter.required("app", .text, help: "The bundle id of its app.")
    private static let id = Parameter.argument(
        "id", .text, help: "The submission's id; one that begins with a hyphen stands after --.")

    static let command = Command<CommandContext>(
        "submissions", "Shows what became of submissions.",
        subcommands: [
            Command(
                "list", "Lists the submissions of one outcome, the latest first.",
                CommonOptions.answering + CommonOptions.paging
                    + [state, cause, CommonOptions.app, CommonOptions.user], run: list),
            Command(
                "show", "Tells all about one submission: its outcome, its grants, what is owed.",
                discussion: """
                    Without --app all apps of the apps file are asked for it, and malformed submissions that name no app.
                    """,
                CommonOptions.answering + [CommonOptions.app, id], run: show),
            Command(
                "retry", "Makes a submission that waits due at once.",
                [CommonOptions.config, CommonOptions.actor, CommonOptions.reason, appOfOne, id], run: retry),
        ])

    /// A word that nothing fails or waits for is a typing error, not an empty list.
    private static var causes: ValueForm<String> {
        let words =
            FailureReason.allCases.map(\.rawValue) + RetryCause.allCases.map(\.rawValue)
            + HoldCause.allCases.map(\.rawValue).filter { FailureReason(rawValue: $0) == nil }
        return ValueForm("one of \(words.joined(separator: ", "))") { words.contains($0) ? $0 : nil }
    }

    private static func list(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let query = SubmissionQuery(
            state: try arguments[state], bundleID: try arguments[CommonOptions.app].map { BundleID($0) },
            userID: try arguments[CommonOptions.user].map { UserID($0) }, cause: try arguments[cause],
            before: try arguments[CommonOptions.before], limit: try arguments[CommonOptions.limit])
        let rows = try arguments.ledger(context) { ledger throws(LedgerError) in try ledger.submissions(query) }
        let table = TextTable(
            header: ["SUBMISSION", "APP", "STATE", "CAUSE", "USER", "ORDER", "ATTEMPTS", "AT", "DUE"],
            rows: rows.map(\.cells), keepsFirst: true)
        try context.output(
            arguments.format(context).page(
                "submissions", table, rows.map(\.json),
                next: CommonOptions.next(after: rows.map(\.sequence), limit: query.limit)))
        // The page behind the last one is empty, too.
        if let app = query.bundleID, query.before == nil, rows.isEmpty,
            try !bundleIDs(of: nil, arguments, context).contains(app)
        {
            throw CommandFailure(
                .failed, "no app \"\(PrintableText.singleLine(app.rawValue))\" is configured or has such submissions")
        }
    }

    private static func show(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let id = SubmissionID(try arguments[id])
        let bundleIDs = try bundleIDs(of: try arguments[CommonOptions.app], arguments, context)
        var later = 0
        let reports = try arguments.ledger(context) { ledger throws(LedgerError) in
            var reports: [SubmissionReport] = []
            for bundleID in bundleIDs {
                let key = SubmissionKey(bundleID: bundleID, submissionID: id)
                let record = try ledger.submission(key)
                later += record.later
                reports += SubmissionReport.all(key, record, actions: try ledger.actions(on: key))
            }
            return reports
        }
        let json = JSONOutput.object(["submissions": .list(reports.map(\.json))])
        try context.output(
            arguments.format(context).render(json: json) { _ in reports.map { $0.text() }.joined(separator: "\n") })
        if later > 0 {
            throw CommandFailure(
                .failed,
                "\(later) more \(later == 1 ? "row was" : "rows were") written by a later version, which alone can show "
                    + "\(later == 1 ? "it" : "them")")
        }
        if reports.isEmpty {
            throw CommandFailure(
                .failed,
                "no submission \"\(PrintableText.singleLine(id.rawValue))\" in the ledger: it is not read or not verified yet, stands on the "
                    + "quarantine topic, failed with an app that is not configured, or was never submitted")
        }
    }

    private static func retry(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let key = SubmissionKey(
            bundleID: BundleID(try arguments[appOfOne]), submissionID: SubmissionID(try arguments[id]))
        let note = OperatorNote(
            actor: try arguments[CommonOptions.actor], reason: try arguments[CommonOptions.reason], at: context.now())
        let count = try arguments.ledger(context) { ledger throws(LedgerError) in try ledger.retryNow(key, note) }
        let name = PrintableText.singleLine(key.submissionID.rawValue)
        guard count > 0 else { throw CommandFailure(.failed, "nothing of submission \"\(name)\" waits") }
        try context.output("Submission \(name) is due now; a worker takes it within a minute.\n")
    }

    /// The apps that are asked about: the one that is named, or all. The empty one is that of malformed submissions.
    private static func bundleIDs(
        of app: String?, _ arguments: ParsedArguments, _ context: CommandContext
    ) throws(CommandFailure) -> [BundleID] {
        if let app { return [BundleID(app)] }
        return try arguments.configuration(context) { values throws(ConfigurationError) in
            try ConfiguredApps.bundleIDs(values) + [BundleID("")]
        }
    }
}

extension SubmissionRow {
    /// Its row in a list.
    fileprivate var cells: [String] {
        [
            claimant.submissionID.rawValue, claimant.bundleID.rawValue, state.rawValue, cause ?? "-",
            claimant.userID.rawValue, claimant.orderID?.rawValue ?? "-", String(attempts), at.rfc3339,
            dueAt?.rfc3339 ?? "-",
        ]
    }

    fileprivate var json: JSONOutput {
        .object([
            "submissionId": .id(claimant.submissionID), "bundleId": .id(claimant.bundleID),
            "userId": .id(claimant.userID), "orderId": .id(claimant.orderID), "state": .word(state),
            "cause": .text(cause), "transactionId": .id(transactionID), "attempts": .count(attempts),
            "at": .time(at), "dueAt": .time(dueAt), "origin": origin.json,
        ])
    }
}
