import CommandParser
import Contract
import Ledger

enum EraseCommand {
    private static let user = Parameter<UserID>.required("user", .id(), help: "The user's id.").takingHyphens()
    private static let keyFile = Parameter.required(
        "key-file", .text,
        help: "A file with a secret of at least \(Pseudonyms.leastKeyBytes) bytes, the same for every user.")
    private static let app = Parameter<BundleID?>.option(
        "app", .id(), help: "Only the rows of the app with this bundle id.")
    private static let unpassed = Parameter.flag(
        "unpassed", help: "Also where records are not passed yet, as of a topic that was made anew.")

    static let command = Command<CommandContext>(
        "erase", "Takes a user's ids out of the ledger.",
        discussion: """
            The ids of the user, of the user's submissions and of the orders give way to pseudonyms, in grants and in \
            operators' actions. The user's failures and repeats are deleted. Purchases keep their keys, so none can be \
            granted again: a claim of one fails as owned_by_another_user. While a submission of the user's waits, or an \
            event is owed, nothing is changed: the purchase is granted or the submission given up first. The same goes \
            for a record that its partition's checkpoint has not passed, because its event may be untold: workers pass \
            it within seconds. Records of a topic that was made anew may never be passed: --unpassed is for them, and \
            loses events that are untold. Grants that only a later version can read stay, and are counted: that version \
            erases them. On PostgreSQL it needs the rights of docs/postgresql.md. Topics, logs and back-ups are not the \
            ledger's: they forget by their own retention.
            """,
        MassChange.options + [user, app, keyFile, unpassed], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let note = try MassChange.apply.note(arguments, context)
        let id = try arguments[user]
        if note?.reason.contains(id.rawValue) ?? false || note?.actor.contains(id.rawValue) ?? false {
            throw .usage("--reason and --actor stay in the ledger: leave the user's id out")
        }
        var key = try EvidenceInput.read(try arguments[keyFile])
        while key.last == UInt8(ascii: "\n") || key.last == UInt8(ascii: "\r") { key.removeLast() }
        guard let pseudonyms = Pseudonyms(key: key) else {
            throw CommandFailure(.failed, "the key has less than \(Pseudonyms.leastKeyBytes) bytes")
        }
        let erasure = Erasure(
            userID: id, bundleID: try arguments[app], pseudonyms: pseudonyms, takesUnpassed: arguments[unpassed])
        var rows = ErasureResult.Rows(grants: 0, answers: 0, actions: 0, isComplete: false)
        var failure: CommandFailure?
        do throws(CommandFailure) {
            try erase(erasure, note, arguments.session(context), &rows)
        } catch {
            guard rows.grants + rows.answers > 0 else { throw error }
            failure = CommandFailure(
                error.status,
                "at least a part is erased; call it again: \(error.message ?? "")")
        }
        guard rows.grants + rows.answers + rows.later > 0 else {
            throw CommandFailure(.failed, "the ledger has nothing of this user, or nothing any more")
        }
        let pseudonym = pseudonyms.of(erasure.userID)
        let json: JSONOutput = .object([
            "applied": .truth(note != nil), "grants": .count(rows.grants), "answers": .count(rows.answers),
            "actions": .count(rows.actions), "pseudonym": .id(pseudonym),
            "laterRows": rows.later == 0 ? .absent : .count(rows.later),
            "isComplete": failure == nil ? .absent : .truth(false),
        ])
        try context.output(
            arguments.format(context).render(json: json) { _ in
                let words =
                    "\(rows.grants.of("grant", "grants")), \(rows.answers.of("answer", "answers")) and "
                    + rows.actions.of("operator's action", "operators' actions")
                guard note == nil else { return "\(words) erased, as \(pseudonym).\n" }
                let more = rows.isComplete ? "" : ", and more,"
                return "\(words)\(more) would be erased, as \(pseudonym); --apply does it.\n"
            })
        if let failure { throw failure }
        if rows.later > 0 {
            throw CommandFailure(
                .failed,
                "the user is not erased: \(rows.later.of("grant was", "grants were")) written by a later version, "
                    + "which alone can erase \(rows.later == 1 ? "it" : "them")")
        }
    }

    /// Calls until the user has no row any more that this version can read. A trial finds the same rows each time.
    /// - Parameter rows: Counts erased rows, also where a later call fails.
    private static func erase(
        _ erasure: Erasure, _ note: OperatorNote?, _ session: LedgerSession, _ rows: inout ErasureResult.Rows
    ) throws(CommandFailure) {
        func call(_ note: OperatorNote?) throws(CommandFailure) -> ErasureResult.Rows {
            let result = try session(changes: note != nil) { ledger throws(LedgerError) in
                try ledger.erase(erasure, note)
            }
            switch result {
            case .done(let found): return found
            case .inTheWay(let waiting, let owed, let unpassed):
                let words = words(waiting: waiting, owed: owed, unpassed: unpassed)
                throw CommandFailure(
                    .failed, rows.grants + rows.answers > 0 ? words : "nothing was changed: \(words)")
            }
        }
        while true {
            let found = try call(note)
            rows.grants += found.grants
            rows.answers += found.answers
            rows.actions += found.actions
            (rows.isComplete, rows.later) = (found.isComplete, found.later)
            if note == nil { return }
            guard found.isComplete else { continue }
            // Rows may have come meanwhile: they are erased as well. A trial shows them.
            let left = try call(nil)
            rows.later = left.later
            if left.grants + left.answers == 0 { return }
        }
    }

    private static func words(waiting: Int, owed: Int, unpassed: Int) -> String {
        var words: [String] = []
        if waiting > 0 {
            words.append(
                "\(waiting.of("submission waits", "submissions wait")): grantor submissions list shows "
                    + "\(waiting == 1 ? "it" : "them"), and a held one may be given up")
        }
        if owed > 0 { words.append("\(owed.of("event is", "events are")) owed, and told as soon as a worker can") }
        if unpassed > 0 {
            words.append(
                "\(unpassed.of("grant or answer is", "grants and answers are")) of records that no worker has passed: "
                    + "their events may be untold. Run a worker and call it again; where their topic was made anew, "
                    + "--unpassed erases them all the same")
        }
        return words.joined(separator: "; ")
    }
}
