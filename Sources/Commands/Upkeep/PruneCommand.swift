import CommandParser
import Configuration
import Contract
import Ledger
import Scheduling

enum PruneCommand {
    /// A shorter time would reach answers that records under way may still ask for.
    private static let ages: ClosedRange<Duration> = .seconds(86_400) ... .seconds(36_500 * 86_400)
    private static let olderThan = Parameter.required(
        "older-than", .duration(ages), help: "Answers of this age go, such as 90d; at least 1d.")
    private static let perSecond = MassChange.perSecond(2_000, "answers")
    /// Most places that one transaction deletes from.
    private static let mostAtOnce = 200

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
        let before = context.now().advanced(by: Duration.zero - age)
        let (note, perSecond) = (try MassChange.note(arguments, context), try arguments[perSecond])
        let session = try arguments.session(context)
        let places = try session { ledger throws(LedgerError) in
            try ledger.places(of: .answers, from: nil, to: before)
        }
        if let note {
            try session { ledger throws(LedgerError) in try ledger.note(.prune, note.pruning(before: before)) }
        }
        var pace = Pace(perSecond: perSecond, from: context.clock())
        var progress = Progress(context)
        let width = note == nil ? DecidedTable.placesAtOnce : Int64(min(mostAtOnce, pace.portion))
        var (done, count) = (places.lowerBound, 0)
        while done < places.upperBound {
            let part = (done + 1)...min(places.upperBound, done + width)
            let found = try session { ledger throws(LedgerError) in
                try ledger.prune(part, before: before, isTrial: note == nil)
            }
            count += found
            done = part.upperBound
            if note != nil, found > 0 { context.pause(pace.pause(before: found, now: context.clock())) }
            progress.show(
                Double(done - places.lowerBound) / Double(places.count),
                "\(count.of("answer", "answers")) \(note == nil ? "found" : "deleted")")
        }
        progress.end()
        let json: JSONOutput = .object([
            "applied": .truth(note != nil), "answers": .count(count), "before": .time(before),
        ])
        try context.output(
            arguments.format(context).render(json: json) { _ in
                let words = "\(count.of("answer", "answers")) from before \(before)"
                guard note == nil else { return "\(words) deleted.\n" }
                return "\(words) would be deleted, in \(Duration.seconds(count / perSecond).rough) at \(perSecond) a "
                    + "second; --apply does it.\n"
            })
    }
}
