import CommandParser
import Ledger

/// The flag without which a command changes nothing, with the person who gives it and why.
struct ChangeOptions: Sendable {
    private let name: String
    private let flag: Parameter<Bool>
    private let actor: Parameter<String?>
    private let reason: Parameter<String?>

    init(_ name: String, help: String) {
        self.name = name
        flag = .flag(name, help: help)
        actor = .option(
            "actor", .line(most: CommonOptions.mostOfNote),
            help: "With --\(name): the name or address of the person who does this.")
        reason = .option(
            "reason", .line(most: CommonOptions.mostOfNote), help: "With --\(name): why, in one sentence.")
    }

    var all: [any AnyParameter] { [flag, actor, reason] }

    /// The person who acts; nil for a trial.
    func note(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) -> OperatorNote? {
        let (actor, reason) = (try arguments[actor], try arguments[reason])
        guard arguments[flag] else {
            guard actor == nil, reason == nil else { throw .usage("--actor and --reason go with --\(name)") }
            return nil
        }
        guard let actor, let reason else { throw .usage("--\(name) needs --actor and --reason") }
        return OperatorNote(actor: actor, reason: reason, at: context.now())
    }
}

/// The common part of commands that go through many rows. Without `--apply` they only say what they would do. They keep
/// a pace, show how far they are, and may be stopped at any time.
enum MassChange {
    static let apply = ChangeOptions("apply", help: "Do it. Without it the command only says what it would do.")
    static let options: [any AnyParameter] = CommonOptions.answering + apply.all

    /// Most changes in a second.
    static func perSecond(_ standard: Int, _ things: String, most: Int = 1_000_000) -> Parameter<Int> {
        .option("per-second", .integer(1...most), default: standard, help: "Most \(things) in a second, 1 to \(most).")
    }
}
