import CommandParser
import Simulation

/// The command line.
enum SimulateProgram {
    /// The request. Many seeds run on many threads, which only the program's main function can wait for.
    final class Wish {
        var seeds: Seeds?
    }

    /// Runs every seed.
    static let runs = command(
        "grantor-simulate", "Runs simulated fleets, each seed with faults of its own.", mostBroken: Seeds.maxShown,
        discussion: """
            grantor-simulate until-broken [<first>] [<count>] ends with the first seed that breaks a promise.

            A seed that is shown has one line per event: seconds of virtual time, worker, whether the core takes it (<), \
            wants it (>) or has no part in it (!), verb, submission, particulars, state after the turn.
            """)

    /// Ends with the first seed that breaks a promise.
    static let hunt = command(
        "grantor-simulate until-broken", "Runs simulated fleets up to the first seed that breaks a promise.",
        mostBroken: 1)

    private static let first = Parameter<UInt64?>.argument(
        "first", .integer(0...(.max / 2)), help: "The first seed (default: 1).")
    private static let count = Parameter<UInt64?>.argument(
        "count", .integer(1...1_000_000_000), help: "How many seeds run (default: 1000).")
    private static let seed = Parameter<UInt64?>.option(
        "seed", .integer(0...(.max)), help: "Show this seed, and run no other.")
    private static let submission = Parameter<String?>.option(
        "submission", .text, help: "Of that seed, show this submission, and its partitions until its offset is passed.")

    private static func command(
        _ name: String, _ summary: String, mostBroken: Int, discussion: String = ""
    ) -> Command<Wish> {
        Command(name, summary, discussion: discussion, [seed, submission, first, count]) {
            arguments, wish throws(CommandFailure) in
            let (first, count) = (try arguments[first], try arguments[count])
            guard let seed = try arguments[seed] else {
                guard try arguments[submission] == nil else { throw .usage("--submission needs --seed") }
                return wish.seeds = Seeds(first: first ?? 1, count: count ?? 1000, most: mostBroken)
            }
            guard first == nil else { throw .usage("--seed shows one seed, and runs no other") }
            try show(seed, try arguments[submission])
        }
    }

    private static func show(_ seed: UInt64, _ submission: String?) throws(CommandFailure) {
        if let submission, case let known = Simulation.submissions(of: seed), !known.contains(submission) {
            throw CommandFailure(
                .usage,
                "seed \(seed) has no submission '\(PrintableText.singleLine(submission))'; it has "
                    + known.joined(separator: ", "))
        }
        let violations = Simulation.run(seed: seed, trace: Trace(submission: submission) { print($0) })
        for violation in violations { print("BROKEN", violation) }
        guard violations.isEmpty else { throw CommandFailure(.failed, nil) }
    }
}
