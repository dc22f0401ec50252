import CommandParser
import Configuration
import Contract
import Ledger
import Scheduling

enum PruneCommand {
    private static let olderThan = Parameter.required(
        "older-than", .answerAge, help: "Answers of this age go, such as 90d; at least 1d.")
    private static let perSecond = MassChange.perSecond(2_000, "answers")

    static let command = Command<CommandContext>(
        "prune", "Deletes old answers: failures and repeats. Grants stay for ever.",
        discussion: """
            A claim that comes again after its answer is gone is decided again: one of a purchase that is granted is \
            answered as a repeat, and one that failed is checked anew. So choose a time beyond the input topic's \
            retention. A failure whose event is owed stays. Workers may run: the command deletes a few rows at a time, \
            at a pace, and may be stopped and begun again.
            """,
        MassChange.options + [olderThan, perSecond], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let age = try arguments[olderThan]
        let (note, perSecond) = (try MassChange.apply.note(arguments, context), try arguments[perSecond])
        let session = try arguments.session(context)
        let (before, places) = try session { ledger throws(LedgerError) in
            let before = try ledger.earlier(context.now()).advanced(by: Duration.zero - age)
            return (before, try ledger.places(of: .answers, from: nil, to: before))
        }
        if let note {
            try session { ledger throws(LedgerError) in try ledger.note(.prune, note.pruning(before: before)) }
        }
        var pace = Pace(perSecond: perSecond, from: context.clock())
        var walk = PruneWalk(places, isTrial: note == nil, portion: pace.portion)
        var failure: CommandFailure?
        do throws(CommandFailure) {
            var progress = Progress(context)
            defer { progress.end() }
            while let step = walk.next {
                let found = try session(changes: !step.isTrial) { ledger throws(LedgerError) in
                    try ledger.prune(step.places, before: before, isTrial: step.isTrial)
                }
                walk.ended(found)
                if !step.isTrial, found > 0 { context.pause(pace.pause(before: found, now: context.clock())) }
                progress.show(
                    walk.part, "\(walk.count.of("answer", "answers")) \(note == nil ? "found" : "deleted")")
            }
        } catch {
            guard note != nil, walk.count > 0 else { throw error }
            failure = error
        }
        let count = walk.count
        let json: JSONOutput = .object([
            "applied": .truth(note != nil), "answers": .count(count), "before": .time(before),
            "isComplete": failure == nil ? .absent : .truth(false),
        ])
        try context.output(
            arguments.format(context).render(json: json) { _ in
                let words = "\(count.of("answer", "answers")) from before \(before)"
                if failure != nil { return "\(words) deleted, and the rest is not; call it again.\n" }
                guard note == nil else { return "\(words) deleted.\n" }
                return "\(words) would be deleted, in \(Duration.seconds(count / perSecond).rough) at \(perSecond) a "
                    + "second; --apply does it.\n"
            })
        if let failure { throw failure }
    }
}
