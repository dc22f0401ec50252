import AppStore
import CommandParser
import Configuration
import Contract
import Glibc

enum VerifyCommand {
    private static let file = Parameter.argument("file", .text, help: "File with the evidence; - for standard input.")
    private static let app = Parameter<String?>.option(
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
        let report = VerdictReport(verdict: verdict, checks: verification.checks(of: submission), calls: calls)
        try context.output(report.json.text)
        guard report.isVerified else { throw CommandFailure(.failed, nil) }
    }
}

/// Evidence, or a whole submission, that a person hands to `grantor verify`.
enum EvidenceInput: Hashable, Sendable {
    case submission(Submission)
    /// JSON, and no submission. Says why in one sentence.
    case malformed(String)
    /// Not JSON: evidence by itself, of the kind that it looks like.
    case evidence(Evidence)

    /// Reads bytes by the rules of the input topic.
    init(_ bytes: [UInt8], now: Timestamp) {
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") else {
            self = .evidence(Self.evidence(in: String(decoding: bytes, as: UTF8.self)))
            return
        }
        let record = InputRecord(
            origin: Origin(topic: "", partition: 0, offset: 0), key: nil, value: bytes, timestamp: nil)
        self =
            switch SubmissionReading(record, now: now) {
            case .submission(let submission): .submission(submission)
            case .malformed(let malformed): .malformed(malformed.rejection.detail)
            case .unreadable(let reason): .malformed("\(reason)")
            }
    }

    /// A signed transaction has two dots, a transaction id is digits alone, and everything else is a receipt.
    private static func evidence(in text: String) -> Evidence {
        let characters = text.drop { $0.isWhitespace }
        let end = characters.lastIndex { !$0.isWhitespace }
        let word = String(end.map { characters[...$0] } ?? "")
        if word.count(where: { $0 == "." }) == 2 { return .signedTransaction(EvidenceText(word)) }
        let isNumber = (1...64).contains(word.utf8.count) && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? .transactionID(TransactionID(word)) : .receipt(base64: EvidenceText(word))
    }

    /// The bytes of a file, or of standard input for `-`.
    /// - Throws: for a file that cannot be read, and for more than the input topic takes.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        // A person may have given the evidence itself in place of a file's name; it is longer than names are.
        let name = path == "-" ? "standard input" : path.utf8.count > 200 ? "the file" : PrintableText.singleLine(path)
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(name) cannot be read; - reads standard input")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure(.failed, "\(name) cannot be read") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= SubmissionReading.maxValueBytes else {
                throw CommandFailure(.failed, "\(name) is larger than a submission may be")
            }
        }
    }
}
