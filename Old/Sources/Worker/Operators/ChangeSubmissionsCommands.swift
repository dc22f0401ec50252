import ArgumentParser
import Foundation
import Ledger
import Purchases

/// `--actor` and `--reason`, for commands that change something. Both are kept in the ledger for ever.
struct NoteOptions: ParsableArguments {
    static let maxActor = 128
    static let maxReason = 500

    @Option(name: .long, help: "Who does this: a person's name or address.")
    var actor: String

    @Option(name: .long, help: "Why, in one sentence; abandon publishes it as the failed event's detail.")
    var reason: String

    var note: OperatorNote { OperatorNote(actor: trimmed(actor), reason: trimmed(reason)) }

    func validate() throws {
        guard (1...Self.maxActor).contains(trimmed(actor).count) else {
            throw ValidationError("--actor must name a person, in at most \(Self.maxActor) characters")
        }
        guard (1...Self.maxReason).contains(trimmed(reason).count) else {
            throw ValidationError("--reason must say why, in at most \(Self.maxReason) characters")
        }
    }

    private func trimmed(_ text: String) -> String {
        text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// `grantor submissions retry`.
struct RetrySubmissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Tries a waiting submission at once, or all that wait for a cause.")

    static let minPerSecond = 0.01
    static let maxPerSecond = 1000.0

    @OptionGroup var options: AnswerOptions
    @OptionGroup var note: NoteOptions

    @Argument(help: "The submission's id; one that begins with a hyphen stands after --.")
    var id: String?

    @Option(name: .long, help: "All that wait for this cause, such as \(HoldCause.sharedSecretRefused.rawValue).")
    var cause: String?

    @Option(name: .long, help: "Only those of the app with this bundle id.")
    var app: String?

    @Option(name: .long, help: "With --cause: so many a second, up to \(Int(maxPerSecond)).")
    var perSecond = 20.0

    func validate() throws {
        guard (id == nil) != (cause == nil) else { throw ValidationError("give either an id or --cause") }
        guard (Self.minPerSecond...Self.maxPerSecond).contains(perSecond) else {
            throw ValidationError(
                "--per-second must be at least \(Self.minPerSecond) and at most \(Int(Self.maxPerSecond))")
        }
        if let cause, WaitingCause(word: cause) == nil {
            let known = WaitingCause.words.joined(separator: ", ")
            throw ValidationError("no submission waits for \"\(cause)\"; causes are \(known)")
        }
    }

    func run() async throws {
        let bundleID = app.map { BundleID($0) }
        try await options.answer { ledger, format async throws(LedgerError) in
            let changes = OperatorChanges(ledger: ledger, format: format, now: CommandClock.now)
            if let cause = cause.flatMap(WaitingCause.init(word:)) {
                return try await changes.retryAll(cause, of: bundleID, perSecond: perSecond, note.note)
            }
            return try await changes.retry(SubmissionID(id ?? ""), of: bundleID, note.note)
        }
    }
}

/// `grantor submissions abandon`.
struct AbandonSubmissionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abandon",
        abstract: "Gives a waiting submission up: it fails as abandoned_by_operator, and its event is published.")

    @OptionGroup var options: AnswerOptions
    @OptionGroup var note: NoteOptions

    @Argument(help: "The submission's id; one that begins with a hyphen stands after --.")
    var id: String

    @Option(name: .long, help: "That of the app with this bundle id.")
    var app: String?

    func run() async throws {
        let bundleID = app.map { BundleID($0) }
        try await options.answer { ledger, format async throws(LedgerError) in
            try await OperatorChanges(ledger: ledger, format: format, now: CommandClock.now)
                .abandon(SubmissionID(id), of: bundleID, note.note)
        }
    }
}

/// Wall-clock time of commands that end by themselves.
enum CommandClock {
    @Sendable static func now() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}

extension WaitingCause {
    /// What can be waited for, each as one word.
    static let words = RetryCause.allCases.map(\.rawValue) + HoldCause.allCases.map(\.rawValue)

    /// The cause that a word names; causes of both kinds have different words.
    init?(word: String) {
        if let cause = RetryCause(rawValue: word) {
            self = .parked(cause)
        } else if let cause = HoldCause(rawValue: word) {
            self = .held(cause)
        } else {
            return nil
        }
    }
}
