import AppStore
import CommandParser
import Configuration
import Contract

/// `grantor verify`.
enum VerifyCommand {
    private static let file = Argument.required("file", .text, help: "File with the evidence; - for standard input.")
    private static let app = Option<String?>.optional(
        "app", .text, help: "Bundle id of the app; needed for bare evidence when several apps are configured.")

    static let command = Command<CommandContext>(
        "verify", "Verifies one piece of evidence and prints what was checked, and what came of it, as JSON.",
        discussion: """
            Reads a signed transaction, a receipt in base64, a transaction id, or a whole submission in JSON from a file \
            or, with -, from standard input. Nothing is granted and nothing is published. Exits 0 if it is verified, 1 if \
            it is not.
            """,
        [CommonOptions.config, app, file], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (settings, apps) = try arguments.configuration(context) { values throws(ConfigurationError) in
            (try AppleSettings(values), try ConfiguredApps(values))
        }
        let bytes = try EvidenceInput.read(arguments[file])
        let submission: Submission
        switch EvidenceInput(bytes, now: context.now()) {
        case .submission(let read): submission = read
        case .malformed(let detail): throw CommandFailure(.failed, "this is JSON, and no submission: \(detail)")
        case .evidence(let evidence):
            let only = apps.all.count == 1 ? apps.all.first?.app.bundleID : nil
            guard let bundleID = try arguments[app].map({ BundleID($0) }) ?? only else {
                throw .usage("several apps are configured; say which with --app")
            }
            submission = Submission(
                claimant: Claimant(submissionID: "verify", userID: "verify", bundleID: bundleID), evidence: evidence,
                origin: Origin(topic: "", partition: 0, offset: 0), receivedAt: context.now())
        }
        let verification = SingleVerification(
            apps: apps.all.map { $0.makeRules() }, verifiers: SignatureVerifiers(roots: settings.roots),
            apple: try context.apple(settings), now: context.now)
        let (verdict, calls) = verification.verdict(on: submission)
        let report = VerdictReport(verdict, checks: verification.checks(of: submission), calls: calls)
        try context.output(JSONText.make(report))
        guard report.isVerified else { throw CommandFailure(.failed, nil) }
    }
}
