import CommandParser
import Configuration
import Contract
import Ledger
import Scheduling

/// Many waiting submissions, for a command that changes each of them: found first, and changed at a pace.
struct ManySubmissions {
    /// Most submissions that one call changes.
    static let most = 100_000
    /// Rows that the ledger is asked for at once.
    private static let pageRows = 1_000

    static let olderThan = Parameter<Duration?>.option(
        "older-than",
        ValueForm("a time such as 90s, 15m, 6h or 7d") { text in
            DurationText.parse(text).flatMap { $0 > .zero ? $0 : nil }
        }, help: "Only those whose records are older, such as 6h or 7d.")
    static let limit = Parameter.option(
        "limit", .integer(1...most), default: 1000, help: "Most submissions, 1 to \(most).")
    static let perSecond = MassChange.perSecond(20, "submissions", most: 1000)
    static let apply = Parameter.flag(
        "apply",
        help:
            "Change the many; without it the answer only says how many there are. One that is named is changed at once."
    )

    /// The options of commands that take many.
    static let options: [any AnyParameter] = [olderThan, limit, perSecond, apply]

    /// The result of changing one submission.
    enum Change: Hashable, Sendable {
        case changed
        /// It has an answer already, a worker is at it, or it waits for something else by now.
        case left
    }

    let states: [SubmissionState]
    let app: BundleID?
    let cause: String?
    let endpoint: Endpoint?
    let age: Duration?
    let limit: Int

    /// Whether anything but their state narrows them. A person who means all that waits has to say so.
    var isNarrowed: Bool { app != nil || cause != nil || age != nil }

    /// The submissions that are there now, each once, the latest first.
    func find(_ ledger: any LedgerOperator, now: Timestamp) throws(LedgerError) -> [SubmissionKey] {
        var latest: Timestamp?
        if let age { latest = try ledger.earlier(now).advanced(by: .zero - age) }
        var keys: [SubmissionKey] = []
        var known: Set<SubmissionKey> = []
        for state in states {
            var query = SubmissionQuery(
                state: state, bundleID: app, cause: cause, endpoint: endpoint, limit: Self.pageRows)
            while keys.count < limit {
                let rows = try ledger.submissions(query)
                for row in rows where keys.count < limit {
                    if let latest, let received = row.receivedAt, received > latest { continue }
                    let key = SubmissionKey(
                        bundleID: row.claimant.bundleID, submissionID: row.claimant.submissionID)
                    if known.insert(key).inserted { keys.append(key) }
                }
                guard rows.count == Self.pageRows, let last = rows.last else { break }
                query.before = last.sequence
            }
        }
        return keys
    }

    /// Finds them, and changes each if `--apply` says so.
    /// - Parameters:
    ///   - done: Words for those that were changed, such as "made due".
    ///   - change: Changes one, in a transaction of its own.
    func run(
        _ arguments: ParsedArguments, _ context: CommandContext, done: String,
        change: (any LedgerOperator, SubmissionKey) throws(LedgerError) -> Change
    ) throws(CommandFailure) {
        let now = context.now()
        // One session for all: another one would not notice that a standby has taken the ledger's place meanwhile.
        let session = try arguments.session(context)
        let keys = try session { ledger throws(LedgerError) in try find(ledger, now: now) }
        let pace = try arguments[Self.perSecond]
        guard arguments[Self.apply], !keys.isEmpty else {
            try answer(arguments, context, Answer(found: keys.count, limit: limit, pace: pace), done)
            if keys.isEmpty { try arguments.refuseUnknown(app, context) }
            return
        }
        var answer = Answer(found: keys.count, limit: limit, pace: pace, changed: 0)
        var progress = Progress(context)
        var clock = Pace(perSecond: pace, from: context.clock())
        for start in stride(from: 0, to: keys.count, by: pace) {
            let part = keys[start..<min(start + pace, keys.count)]
            context.pause(clock.pause(before: part.count, now: context.clock()))
            do throws(CommandFailure) {
                try session(changes: true) { ledger throws(LedgerError) in
                    for key in part {
                        switch try change(ledger, key) {
                        case .changed: answer.changed = (answer.changed ?? 0) + 1
                        case .left: answer.left += 1
                        }
                    }
                }
            } catch {
                progress.end()
                try self.answer(arguments, context, answer, done)
                guard let loss = session.loss else { throw error }
                throw CommandFailure(
                    error.status,
                    "the connection to the ledger was lost: each of these may be \(done) or not, also the first ones; "
                        + "call it again: \(loss)")
            }
            progress.show(Double(part.endIndex) / Double(keys.count), "\(part.endIndex) of \(Self.words(keys.count))")
        }
        progress.end()
        try self.answer(arguments, context, answer, done)
    }

    private struct Answer {
        let found: Int
        let limit: Int
        let pace: Int
        /// Nil where nothing was to be changed.
        var changed: Int?
        var left = 0
    }

    private func answer(
        _ arguments: ParsedArguments, _ context: CommandContext, _ answer: Answer, _ done: String
    ) throws(CommandFailure) {
        let isFull = answer.found == answer.limit
        let json: JSONOutput = .object([
            "found": .count(answer.found), "isLimitReached": .truth(isFull), "isApplied": .truth(answer.changed != nil),
            "changed": .count(answer.changed ?? 0), "left": .count(answer.left),
        ])
        try context.output(
            arguments.format(context).render(json: json) { _ in
                let more = isFull ? " The limit is reached; there may be more." : ""
                guard let changed = answer.changed else {
                    guard answer.found > 0 else { return "No submission matches.\n" }
                    let time = Duration.seconds((answer.found + answer.pace - 1) / answer.pace).rough
                    return "\(Self.words(answer.found)) match; nothing was changed. With --apply they are \(done), "
                        + "\(answer.pace) a second, in about \(time).\(more)\n"
                }
                let left = answer.left > 0 ? ", \(answer.left) left as they are" : ""
                return "\(changed) of \(Self.words(answer.found)) \(done)\(left).\(more)\n"
            })
    }

    private static func words(_ count: Int) -> String { count.of("submission", "submissions") }
}
