import CommandParser
import Contract
import Ledger
import Scheduling

/// The common part of commands that go through many rows. Without `--apply` they only say what they would do. They keep
/// a pace, show how far they are, and may be stopped at any time.
enum MassChange {
    static let apply = Parameter.flag("apply", help: "Do it. Without it the command only says what it would do.")
    private static let actor = Parameter<String?>.option(
        "actor", .line(most: CommonOptions.mostOfNote),
        help: "With --apply: the name or address of the person who does this.")
    private static let reason = Parameter<String?>.option(
        "reason", .line(most: CommonOptions.mostOfNote), help: "With --apply: why, in one sentence.")

    static let options: [any AnyParameter] = CommonOptions.answering + [apply, actor, reason]

    /// Most changes in a second.
    static func perSecond(_ standard: Int, _ things: String, most: Int = 1_000_000) -> Parameter<Int> {
        .option("per-second", .integer(1...most), default: standard, help: "Most \(things) in a second, 1 to \(most).")
    }

    /// The person who acts; nil for a trial.
    static func note(
        _ arguments: ParsedArguments, _ context: CommandContext
    ) throws(CommandFailure) -> OperatorNote? {
        guard arguments[apply] else { return nil }
        guard let actor = try arguments[actor], let reason = try arguments[reason] else {
            throw .usage("--apply needs --actor and --reason")
        }
        return OperatorNote(actor: actor, reason: reason, at: context.now())
    }
}

extension ValueForm<Timestamp> {
    static var moment: Self {
        ValueForm(
            "a moment such as 2026-11-21T00:00:00Z", read: { Timestamp(rfc3339: $0) }, show: \.rfc3339)
    }
}
