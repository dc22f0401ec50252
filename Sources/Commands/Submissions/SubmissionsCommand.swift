import CommandParser
import Configuration
import Contract
import Ledger

enum SubmissionsCommand {
    private static let state = Parameter<SubmissionState?>.option("state", .choice, help: "Only those in this state.")
    private static let waitingState = Parameter<SubmissionState?>.option(
        "state", .choice(of: SubmissionState.allCases.filter(\.isWaiting)), help: "Only those in this state.")
    private static let cause = Parameter<String?>.option(
        "cause", causes, help: "Only those that failed or wait for this reason, such as no_answer.")
    private static let endpoint = Parameter<Endpoint?>.option(
        "endpoint", endpoints,
        help: "Only those that are retrying, and ask this of Apple, such as server_api/production.")
    private static let order = Parameter<OrderID?>.option("order", .id(), help: "Only those of this order.")
        .takingHyphens()
    private static let transaction = Parameter<TransactionID?>.option(
        "transaction", .id(), help: "Only those of this transaction, or original transaction.")
    private static let before = Parameter<SubmissionPage.Place?>.option(
        "before", .place, help: "Continue a list: the place that the page before ended with.")
    private static let oneOfMany = Parameter<SubmissionID?>.argument(
        "id", .id(), help: "The id of one submission, whose app --app names; without it many are meant.")
    private static let id = Parameter<SubmissionID>.argument(
        "id", .id(), help: "The submission's id; one that begins with a hyphen stands after --.")

    static let command = Command<CommandContext>(
        "submissions", "Shows what became of submissions.",
        subcommands: [
            Command(
                "list", "Lists submissions: held ones, retrying, failed, repeated, granted; the latest of each first.",
                discussion: "Granted submissions have a row for each purchase.",
                CommonOptions.tabulating
                    + [
                        CommonOptions.limit, before, state, cause, endpoint, CommonOptions.app, CommonOptions.user,
                        order, transaction,
                    ], run: list),
            Command(
                "show", "Tells all about one submission: its outcome, its grants, what is owed.",
                discussion: """
                    Without --app all apps of the ledger are asked for it, and malformed submissions that name no app.
                    """,
                CommonOptions.answering + [CommonOptions.app, id], run: show),
            Command(
                "retry", "Makes submissions that wait due at once: one, or many.",
                discussion: """
                    Many are those that --app, --cause, --endpoint, --state and --older-than leave, at most --limit. \
                    The answer says how many there are, and with --apply they are changed, at a pace.
                    """,
                CommonOptions.answering
                    + [CommonOptions.actor, CommonOptions.reason, CommonOptions.app, cause, endpoint, waitingState]
                    + ManySubmissions.options + [oneOfMany], run: retry),
            Command(
                "abandon", "Gives held submissions up, one or many: they fail.",
                discussion: """
                    For what nobody can mend, such as a purchase whose refund was settled with the player. The failed \
                    event says abandoned_by_operator, with the reason as its detail: the player's support reads it. Where \
                    the user has the purchase already, its granted event is told again instead. A submission that is \
                    retrying is not given up, because Apple may still confirm it.

                    Many are those that --app, --cause and --older-than leave, at most --limit. The answer says how \
                    many there are, and with --apply they are given up, at a pace.
                    """,
                CommonOptions.answering + [CommonOptions.actor, CommonOptions.reason, CommonOptions.app, cause]
                    + ManySubmissions.options + [oneOfMany], run: abandon),
        ])

    /// A word that nothing fails or waits for is a typing error, not an empty list.
    private static var causes: ValueForm<String> {
        let words =
            FailureReason.allCases.map(\.rawValue) + RetryCause.allCases.map(\.rawValue)
            + HoldCause.allCases.map(\.rawValue).filter { FailureReason(rawValue: $0) == nil }
        return ValueForm("one of \(words.joined(separator: ", "))") { words.contains($0) ? $0 : nil }
    }

    /// The endpoints whatever their keys.
    private static var endpoints: ValueForm<Endpoint> {
        var all: [String: Endpoint] = [:]
        for service in Endpoint.Service.allCases {
            for environment in Environment.allCases {
                all["\(service.rawValue)/\(environment.rawValue)"] = Endpoint(service, environment)
            }
        }
        let words = all.keys.sorted()
        return ValueForm("one of \(words.joined(separator: ", "))", values: words) { [all] in all[$0] }
    }

    private static func list(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let app = try arguments[CommonOptions.app]
        let filter = SubmissionQuery(
            state: .held, bundleID: app, userID: try arguments[CommonOptions.user], orderID: try arguments[order],
            transactionID: try arguments[transaction], cause: try arguments[cause],
            endpoint: try arguments[endpoint], limit: try arguments[CommonOptions.limit])
        let (state, before) = (try stateOfEndpoint(arguments, state), try arguments[before])
        if let state, let before, before.state != state { throw .usage("--before is a place in another state's list") }
        let page = try arguments.ledger(context) { ledger throws(LedgerError) in
            var page = SubmissionPage(filter, state: state, before: before)
            try page.fill(from: ledger)
            return page
        }
        let now = context.now()
        let table = TextTable(
            header: SubmissionRow.header, rows: page.rows.map { $0.cells(now: now) }, keepsFirst: true,
            whole: ["STATE", "CAUSE"]
        ).withoutEmptyColumns()
        try context.output(
            arguments.format(context).page(
                "submissions", table, page.rows.map(\.json), next: page.next?.text, isCut: page.isCut))
        // The page behind the last one is empty, too.
        if before == nil, page.rows.isEmpty, !page.isCut { try arguments.refuseUnknown(app, context) }
    }

    private static func show(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let id = try arguments[id]
        var answer: SubmissionAnswer
        if let app = try arguments[CommonOptions.app] {
            answer = try arguments.ledger(context) { ledger throws(LedgerError) in
                try ledger.answer(id, of: [app])
            }
        } else {
            answer = try arguments.ledger(context) { ledger throws(LedgerError) in
                try ledger.answer(id, of: ledger.apps(of: id))
            }
            // Grants that only a later version can read are in no list, so they are asked for by apps.
            if answer.reports.isEmpty, answer.later == 0 {
                let bundleIDs = arguments.bundleIDs(context) ?? [BundleID("")]
                answer = try arguments.ledger(context) { ledger throws(LedgerError) in
                    try ledger.answer(id, of: bundleIDs)
                }
            }
        }
        let now = context.now()
        try context.output(
            arguments.format(context).render(json: answer.json) { width in
                answer.reports.map { $0.text(now: now, width: width) }.joined(separator: "\n")
            })
        if answer.later > 0 { throw .ofLater(answer.later) }
        if answer.reports.isEmpty {
            throw CommandFailure(
                .failed,
                "no submission \"\(PrintableText.singleLine(id.rawValue))\" in the ledger: "
                    + "\(SubmissionWords.ofUnknown) (grantor find looks on the topics, too)")
        }
    }

    private static func retry(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let note = try arguments.note(context)
        let state = try stateOfEndpoint(arguments, waitingState)
        guard let key = try one(arguments, state: state) else {
            let many = try many(
                arguments, state.map { [$0] } ?? [.held, .retrying], endpoint: try arguments[endpoint],
                isNarrowed: state != nil, by: ["--state", "--endpoint"])
            return try many.run(arguments, context, done: "made due") { ledger, key throws(LedgerError) in
                try ledger.retryNow(key, note) ?? 0 > 0 ? .changed : .left
            }
        }
        let found = try arguments.ledger(context, changes: true) { ledger throws(LedgerError) in
            try ledger.retryNow(key, note)
        }
        let name = PrintableText.singleLine(key.submissionID.rawValue)
        guard let count = found else { throw CommandFailure(.failed, "nothing of submission \"\(name)\" waits") }
        guard count > 0 else {
            throw CommandFailure(
                .failed,
                "a worker is at submission \"\(name)\": nothing was changed; call again if it waits after that")
        }
        let text = "Submission \(name) is due now. It waits on while no worker lives, or its endpoint is away.\n"
        try context.output(arguments.format(context).render(json: Self.json(key, ["due": .count(count)])) { _ in text })
    }

    private static func abandon(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let note = try arguments.note(context)
        guard let key = try one(arguments, state: nil) else {
            let many = try many(arguments, [.held], isNarrowed: false)
            return try many.run(arguments, context, done: "given up") { ledger, key throws(LedgerError) in
                let outcomes = try ledger.abandonIfHeld(key, for: many.cause, note) ?? []
                return outcomes.isEmpty || outcomes.contains(where: \.isHeld) ? .left : .changed
            }
        }
        let name = PrintableText.singleLine(key.submissionID.rawValue)
        let outcomes = try arguments.ledger(context, changes: true) { ledger throws(LedgerError) in
            try ledger.abandonIfHeld(key, for: nil, note)
        }
        guard let outcomes else {
            throw CommandFailure(
                .failed,
                "submission \"\(name)\" is retrying, not held, or a worker is at it: Apple may still confirm it; "
                    + "nothing was changed"
            )
        }
        guard let outcome = outcomes.first else {
            throw CommandFailure(.failed, "nothing of submission \"\(name)\" waits")
        }
        if case .held(let cause) = outcome {
            throw CommandFailure(.failed, "submission \"\(name)\" stays held, and nothing was changed: \(cause.remedy)")
        }
        let (word, end) =
            switch outcome {
            case .failed(let reason) where reason == FailureReason.abandonedByOperator.rawValue:
                ("abandoned", "is given up: it has failed")
            case .failed(let reason): ("failed", "waits no longer: it has failed before (\(reason))")
            case .granted, .redelivery, .repeated, .retrying, .held:
                ("granted", "waits no longer: its user has the purchase")
            }
        let text = "Submission \(name) \(end). A worker publishes the event that says so.\n"
        try context.output(
            arguments.format(context).render(json: Self.json(key, ["outcome": .text(word)])) { _ in text })
    }

    private static func json(_ key: SubmissionKey, _ members: [String: JSONOutput]) -> JSONOutput {
        .object(members.merging(["app": .id(key.bundleID), "submissionId": .id(key.submissionID)]) { $1 })
    }

    /// The state that is named; with an endpoint it is retrying.
    private static func stateOfEndpoint(
        _ arguments: ParsedArguments, _ state: Parameter<SubmissionState?>
    ) throws(CommandFailure) -> SubmissionState? {
        let named = try arguments[state]
        guard try arguments[endpoint] != nil else { return named }
        guard named ?? .retrying == .retrying else {
            throw .usage("--endpoint is of those that are retrying: others ask nothing of Apple")
        }
        return .retrying
    }

    /// The one submission that is named; nil if many are meant.
    private static func one(
        _ arguments: ParsedArguments, state: SubmissionState?
    ) throws(CommandFailure) -> SubmissionKey? {
        guard let id = try arguments[oneOfMany] else { return nil }
        guard try arguments[cause] == nil, state == nil, try arguments[ManySubmissions.olderThan] == nil else {
            throw .usage("an id names one submission, and --cause, --endpoint, --state and --older-than many")
        }
        guard let app = try arguments[CommonOptions.app] else {
            throw .usage("--app is missing: a submission is named by its app and its id")
        }
        return SubmissionKey(bundleID: app, submissionID: id)
    }

    private static func many(
        _ arguments: ParsedArguments, _ states: [SubmissionState], endpoint: Endpoint? = nil, isNarrowed: Bool,
        by others: [String] = []
    ) throws(CommandFailure) -> ManySubmissions {
        let many = ManySubmissions(
            states: states, app: try arguments[CommonOptions.app], cause: try arguments[cause],
            endpoint: endpoint, age: try arguments[ManySubmissions.olderThan],
            limit: try arguments[ManySubmissions.limit])
        guard many.isNarrowed || isNarrowed else {
            let options = (["--app", "--cause", "--older-than"] + others).joined(separator: ", ")
            throw .usage("an id is missing, or what many have: \(options)")
        }
        return many
    }
}

extension CommandFailure {
    /// The end of an answer that lacks rows which only a later version can read.
    static func ofLater(_ rows: Int) -> CommandFailure {
        CommandFailure(
            .failed,
            "\(rows.of("more row was", "more rows were")) written by a later version, which alone can show "
                + "\(rows == 1 ? "it" : "them")")
    }
}

extension ParsedArguments {
    /// The apps of the apps file, and the empty one, which is that of malformed submissions. Nil without a readable
    /// file: the ledger has its answers all the same.
    fileprivate func bundleIDs(_ context: CommandContext) -> [BundleID]? {
        try? configuration(context) { values throws(ConfigurationError) in
            try ConfiguredApps.bundleIDs(values) + [BundleID("")]
        }
    }

    /// Ends a command that has found nothing of an app that is not configured: its name may be misspelt. Without an
    /// apps file nobody knows.
    func refuseUnknown(_ app: BundleID?, _ context: CommandContext) throws(CommandFailure) {
        guard let app, let configured = bundleIDs(context), !configured.contains(app) else { return }
        throw CommandFailure(
            .failed, "no app \"\(PrintableText.singleLine(app.rawValue))\" is configured or has such submissions")
    }
}

/// Everything that a ledger has of the submissions with one id.
struct SubmissionAnswer: Sendable {
    var reports: [SubmissionReport] = []
    /// Rows that only a later version can read.
    var later = 0

    mutating func add(
        _ record: SubmissionRecord, of key: SubmissionKey, actions: [OperatorAction]?, _ checkpoints: Checkpoints
    ) {
        later += record.later
        reports += SubmissionReport.all(key, record, actions: actions, checkpoints)
    }

    var json: JSONOutput { json(mostGrants: .max, mostWaiting: .max) }

    /// - Parameters:
    ///   - mostGrants: Of each report; the oldest are shown.
    ///   - mostWaiting: The same of rows that wait.
    func json(mostGrants: Int, mostWaiting: Int) -> JSONOutput {
        .object([
            "submissions": .list(reports.map { $0.json(mostGrants: mostGrants, mostWaiting: mostWaiting) }),
            "laterRows": later == 0 ? .absent : .count(later),
        ])
    }
}

extension LedgerOperator {
    /// Gives a submission up unless Apple may still confirm it.
    /// - Parameter cause: The one that it is held for; nil for any. Many are found long before their turn, and one may be
    ///   held for another cause by then, which somebody can mend.
    /// - Returns: Nil if it is retrying, held for another cause, or a worker is at it; empty if nothing of it waits.
    fileprivate func abandonIfHeld(
        _ key: SubmissionKey, for cause: String?, _ note: OperatorNote
    ) throws(LedgerError) -> [Outcome]? {
        try abandon(key, note) { row in
            row.entry.cause.endpoint == nil && !row.isLeased && (cause ?? row.entry.cause.word) == row.entry.cause.word
        }
    }

    /// Most apps in which one submission id is looked for.
    private static var mostApps: Int { 1_000 }

    /// The apps in which the ledger has a submission of this id.
    func apps(of id: SubmissionID) throws(LedgerError) -> [BundleID] {
        let queries = SubmissionState.allCases.map {
            SubmissionQuery(state: $0, submissionID: id, limit: Self.mostApps)
        }
        return Set(try submissions(queries).joined().map(\.claimant.bundleID)).sorted()
    }

    func answer(_ id: SubmissionID, of apps: [BundleID]) throws(LedgerError) -> SubmissionAnswer {
        var answer = SubmissionAnswer()
        let keys = apps.map { SubmissionKey(bundleID: $0, submissionID: id) }
        let look = try look(at: keys, for: [])
        let checkpoints = Checkpoints(look.partitions)
        for (key, record) in zip(keys, look.records) {
            answer.add(record, of: key, actions: try actions(on: key), checkpoints)
        }
        return answer
    }

}
