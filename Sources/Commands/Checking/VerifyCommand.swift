import AppStore
import CommandParser
import Configuration
import Contract

enum VerifyCommand {
    private static let file = Parameter.argument("file", .text, help: "File with the evidence; - for standard input.")
    private static let app = Parameter<BundleID?>.option(
        "app", .id(), help: "Bundle id of the app; needed for bare evidence when several apps are configured.")

    static let command = Command<CommandContext>(
        "verify", "Verifies one piece of evidence and prints what was checked, and what came of it, as JSON.",
        discussion: """
            Reads a signed transaction, a receipt, a transaction id, or a whole submission in JSON from a file or, with -, \
            from standard input. A receipt may be base64 or the file itself; evidence may be in quotes, or in JSON as \
            receipt-data or signedTransactionInfo. A submission gets the verdict that a worker has for it. Nothing is \
            granted and nothing is published. Exits 0 if it is verified, 1 if it is not.
            """,
        [CommonOptions.config, app, file], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (settings, apps) = try arguments.configuration(context) { values throws(ConfigurationError) in
            (try AppleSettings(values), try ConfiguredApps(values))
        }
        let named = try arguments[app]
        let input = EvidenceInput(try EvidenceInput.read(arguments[file]))
        let value: [UInt8]
        switch input {
        case .record(let bytes): value = bytes
        case .evidence(let member, let text):
            let only = apps.all.count == 1 ? apps.all.first?.app.bundleID : nil
            guard let bundleID = named ?? only else {
                throw .usage("several apps are configured; say which with --app")
            }
            value = member.record(text, of: bundleID)
        }
        let verification = SingleVerification(
            apps: apps.all.map { $0.makeRules() }, verifiers: SignatureVerifiers(roots: settings.roots),
            apple: try context.apple(settings), now: context.now)
        let report: VerdictReport
        switch verification.read(value) {
        case .submission(let submission):
            try refuse(submission.claimant, unlessOf: named)
            report = verification.report(on: submission)
        case .malformed(let malformed):
            try refuse(malformed.claimant, unlessOf: named)
            report = VerdictReport(verdict: .rejected(malformed.rejection), checks: [], calls: [])
        case .unreadable(let reason):
            throw CommandFailure(.failed, "a worker would quarantine it, because it is no submission: \(reason.words)")
        }
        try context.output(report.json.text)
        guard report.isVerified else { throw CommandFailure(.failed, nil) }
    }

    /// A verdict by another app's rules would be taken for one by the named app's.
    private static func refuse(_ claimant: Claimant, unlessOf named: BundleID?) throws(CommandFailure) {
        let own = claimant.bundleID
        guard let named, !own.rawValue.isEmpty, own != named else { return }
        throw .usage(
            "the submission is of \(PrintableText.singleLine(own.rawValue)), and --app names "
                + PrintableText.singleLine(named.rawValue))
    }
}
