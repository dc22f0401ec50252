import Ledger
import Purchases

extension DeliveryRow {
    /// For people: `done ...`, or how far it is and why not further.
    var words: String {
        let calls = "\(attempts) \(attempts == 1 ? "call" : "calls")"
        switch state {
        case .done(let at): return "done at \(at.rfc3339), after \(calls)"
        case .open(let dueAt, let worker):
            let holder = worker.map { "\(PrintableText.singleLine($0.text)) is at it" }
            let next = holder ?? "called next at \(dueAt.rfc3339)"
            let last = history.attempts.last.map {
                ", the last at \($0.at.rfc3339): \(PrintableText.singleLine($0.detail))"
            }
            return "open since \(openedAt.rfc3339), \(next), \(calls) so far\(last ?? "")"
        }
    }
}

/// A delivery as JSON.
struct DeliveryJSON: Encodable {
    /// `open` or `done`.
    let state: String
    let openedAt: String
    let doneAt, nextCallAt, worker: String?
    let calls: Int
    /// The calls that did not help.
    let failures: [AttemptJSON]

    init(_ row: DeliveryRow) {
        openedAt = row.openedAt.rfc3339
        calls = row.attempts
        failures = row.history.attempts.map { AttemptJSON($0) }
        switch row.state {
        case .done(let at):
            state = "done"
            (doneAt, nextCallAt, worker) = (at.rfc3339, nil, nil)
        case .open(let dueAt, let holder):
            state = "open"
            (doneAt, nextCallAt, worker) = (nil, dueAt.rfc3339, holder?.text)
        }
    }
}
