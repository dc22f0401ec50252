/// Something that must not be, with where to look.
struct Violation: Hashable, Sendable, CustomStringConvertible {
    let rule: Rule
    /// Ids and places; never evidence.
    let detail: String

    /// What must hold of every run, whatever went wrong on the way.
    enum Rule: String, CaseIterable, Sendable {
        case answered = "every submission has exactly one kind of answer, and the right one"
        case granted = "every valid claimed purchase has exactly one grant, to one who claimed it, as Apple sold it"
        case nothingElse = "nothing is granted that was not bought and claimed"
        case told = "every grant of an app with an inventory service is told to it, and published after its yes"
        case published = "every event of the ledger is on its topic, and no other is"
        case identical = "every copy of an event is the same to the last byte"
        case quarantined = "every record that cannot be read is in quarantine as it came, once"
        case stopped = "a worker that is asked to stop ends by itself, with exit code 0"
        case drained = "everything is settled and published within the limit after the last fault"
        case audited = "grantor audit finds nothing"
    }

    var description: String { "\(rule.rawValue): \(detail)" }
}
