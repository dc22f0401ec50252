import Contract
import Ledger
import Processing
import Scheduling

// The words of a trace. The switches are closed, so that a new case does not compile without its words.

extension Int64? {
    /// An offset.
    var text: String { map(String.init) ?? "none" }
}

extension CheckTask.Work {
    var text: String {
        switch self {
        case .record(_, nil): "the record"
        case .record(_, let known?): "the record, whose outcome is \(known.kind)"
        case .quarantine(_, let reason): "nothing, to quarantine it: \(reason)"
        case .submission: "the row of retries"
        case .signature(_, let mayDecide): "its signature\(mayDecide ? ", which may decide" : "")"
        case .reply: "the signatures in Apple's reply"
        }
    }
}

extension CheckResult {
    var text: String {
        switch self {
        case .unreadable: "no submission can be read"
        case .known: "the record is read again, and has its outcome"
        case .malformed(let malformed): "rejected: \(malformed.rejection.reason.rawValue)"
        case .submission(_, _, let check): check.text
        case .signature(let holds, let verdict):
            "the signature \(holds ? "holds" : "does not hold")" + (verdict.map { ", so: \($0.text)" } ?? "")
        case .reply(let result): result.text
        }
    }
}

extension LocalCheck {
    fileprivate var text: String {
        switch self {
        case .concluded(let verdict): verdict.text
        case .ask(let question, nil, _): "\(question.endpoint) has to be asked"
        case .ask(let question, .some, _): "the ledger has to be asked, and then \(question.endpoint)"
        }
    }
}

extension AttemptResult {
    var text: String {
        switch self {
        case .concluded(let verdict): verdict.text
        case .next(let question): "\(question.endpoint) has to be asked next"
        case .check: "the answer has signatures"
        }
    }
}

extension Verdict {
    fileprivate var text: String {
        switch self {
        case .verified(let purchases, let by): "verified by \(by.rawValue): \(purchases.text)"
        case .rejected(let rejection): "rejected: \(rejection.reason.rawValue)"
        case .retry(let cause, let moment, _):
            "retry: \(cause.rawValue)"
                + (moment.map { ", not before \(($0.milliseconds - World.wallStart).seconds)" } ?? "")
        case .doubt(let cause, let end): "doubt: \(cause.rawValue); in the end \(end.verdict.text)"
        case .hold(let cause, _, _): "hold: \(cause.rawValue)"
        }
    }
}

extension CallOutcome {
    var text: String {
        switch self {
        case .replied: "replied"
        case .failed: "failed"
        case .overloaded: "is overloaded"
        case .limited(nil): "asks for fewer calls"
        case .limited(let wait?): "asks for no call for \(wait.wholeMilliseconds.seconds) s"
        case .unknown: "said nothing"
        }
    }
}

extension [GrantablePurchase] {
    fileprivate var text: String {
        map { "\($0.purchase.transactionID) \($0.purchase.productID)" }.joined(separator: ", ")
    }
}

extension Decision.Content {
    var text: String {
        switch self {
        case .grant(let purchases, let by): "grant \(purchases.text), by \(by.rawValue)"
        case .repeated(let grant): "it is answered by \(grant.text)"
        case .fail(let rejection): "fail: \(rejection.reason.rawValue)"
        case .wait(let entry): "into retries: \(entry.cause.text), due in \(entry.delay.seconds) s"
        }
    }
}

extension DecisionResult {
    var text: String {
        switch self {
        case .written(let outcome, let events, _):
            outcome.text + (events.isEmpty ? "; nothing to tell" : "; to tell: \(events.count) events")
        case .notOwned: "not written: it is another worker's"
        case .nothingNew: "not written: nothing in it is new"
        case .undecided: "not written: a key is held by an open transaction"
        case .toBeHeld(let cause, _): "not written: to be held, \(cause.rawValue)"
        case .refused: "not written: the ledger refuses its data"
        }
    }
}

extension Outcome {
    fileprivate var text: String {
        switch self {
        case .granted(let created): "granted, \(created) new"
        case .redelivery: "its outcome stands"
        case .repeated: "answered by another submission's grant"
        case .failed(let reason): "failed: \(reason)"
        case .retrying(let cause): "waits in retries: \(cause.rawValue)"
        case .held(let cause): "held in retries: \(cause.rawValue)"
        }
    }
}

extension WaitCause {
    var text: String {
        switch self {
        case .retrying(let cause, let endpoint): "\(cause.rawValue), \(endpoint)"
        case .held(let cause): "held, \(cause.rawValue)"
        }
    }
}

extension GrantReference {
    var text: String { "\(environment.rawValue) \(transactionID)" }
}

extension TakeOverResult {
    var text: String {
        switch self {
        case .taken(let start):
            "taken over; the ledger is at \(start.next.text), its highest origin \(start.highestOrigin.text)"
        case .forgotten(let ledger): "the ledger \(ledger) knows nothing of it"
        }
    }
}

extension OutboxReport {
    var text: String {
        switch self {
        case .published(let lease): "told: \(lease.key.text)"
        case .called(let lease): "called for: \(lease.key.text)"
        case .postponed(let lease, let delay, _): "again in \(delay.seconds) s: \(lease.key.text)"
        }
    }
}

extension LedgerError {
    var text: String {
        switch self {
        case .unavailable: "no result: the ledger is unavailable"
        case .disconnected: "no result: the connection is lost"
        case .unusable: "no result: the ledger is unusable"
        }
    }
}

extension StopReason {
    var text: String {
        switch self {
        case .clean: "clean"
        case .forgotten(let ledger): "the ledger \(ledger) knows nothing of what the group has read"
        case .unusable(let detail): detail
        }
    }
}

extension LedgerRequest.Call {
    /// The verb of the call.
    var name: String { names.call }
    /// The verb of its result.
    var done: String { names.result }

    private var names: (call: String, result: String) {
        switch self {
        case .takeOver: ("takeOver", "takenOver")
        case .knownOutcomes: ("load", "loaded")
        case .checkpoint: ("checkpoint", "kept")
        case .mark: ("mark", "marked")
        case .lookUp: ("lookUp", "lookedUp")
        case .takeDue: ("takeDue", "due")
        case .renew: ("renew", "renewed")
        case .giveBack: ("giveBack", "givenBack")
        case .owe: ("owe", "owed")
        case .takeOutbox: ("takeOutbox", "due")
        case .report: ("report", "reported")
        case .measure: ("measure", "measured")
        case .signOff: ("signOff", "signedOff")
        }
    }
}

extension Alert {
    /// Whom it concerns, and its words.
    var told: (TraceLine.About, String) {
        func of(_ origin: Origin) -> TraceLine.About { .submission(TraceSubject(origin: origin)) }
        switch self {
        case .breakerOpened(let endpoint, _): return (.endpoint(endpoint), "breaker opened: \(endpoint)")
        case .breakerStillOpen(let endpoint, let time, let rows):
            return (
                .endpoint(endpoint), "breaker open for \(time.wholeMilliseconds.seconds) s: \(endpoint), \(rows) rows"
            )
        case .breakerClosed(let endpoint, let time, let rows):
            return (
                .endpoint(endpoint),
                "breaker closed after \(time.wholeMilliseconds.seconds) s: \(endpoint), \(rows) rows"
            )
        case .calls(let alert): return alert.told
        case .waitingAtStart(let rows, let held, _):
            return (.nobody, "\(rows) rows waited at the start, \(held) of them held")
        case .held(let group, let rows, _):
            return (.nobody, "held: \(rows) of \(group.bundleID), \(group.cause.rawValue)")
        case .heldOver(let group, _): return (.nobody, "held no more: \(group.bundleID), \(group.cause.rawValue)")
        case .laterVersion(let rows): return (.nobody, "\(rows) rows of a later version")
        case .laterVersionOver: return (.nobody, "no rows of a later version")
        case .passedOver(let app, let product, let reason, let purchases, let example):
            return (
                .nobody,
                "\(purchases) purchases of \(app)'s \(product) passed over as \(reason.rawValue), such as of \(example)"
            )
        case .signedAhead(let submissions, let example):
            return (.nobody, "\(submissions) submissions signed ahead of the clock, such as \(example)")
        case .appMissing(let app, let submissions, let example):
            return (.nobody, "\(submissions) submissions of \(app), which is missing, such as \(example)")
        case .quarantined(let kind, let records, let example):
            return (of(example), "quarantined: \(records) records, \(kind.rawValue)")
        case .retriesHalfFull: return (.nobody, "retries half full")
        case .retriesFull: return (.worker, "retries full")
        case .retriesHaveRoom: return (.worker, "retries have room")
        case .eventsTaken(let topic, _): return (.worker, "\(topic.rawValue) takes events again")
        case .outboxHasRoom: return (.worker, "outbox has room")
        case .eventsNotTaken(let topic, let cause): return (.worker, "\(topic.rawValue) takes no events: \(cause)")
        case .outboxFull: return (.worker, "outbox full")
        case .ledgerSetBack(let partition, let checkpoint, let found):
            return (.partition(partition.partition), "ledger set back from \(checkpoint) to \(found.text)")
        case .ledgerUnavailable: return (.worker, "ledger unavailable")
        case .ledgerAvailable(let time):
            return (.worker, "ledger answers again, after \(time.wholeMilliseconds.seconds) s")
        case .ownershipLost(let partition): return (.partition(partition.partition), "ownership lost")
        case .decisionRefused(let origin, _): return (of(origin), "decision refused")
        case .recordEndsWorkers(let origin): return (of(origin), "record ends workers")
        case .rowEndsWorkers(let origin): return (of(origin), "row ends workers")
        }
    }
}

extension Fault {
    /// The subject, the worker's number where it is one worker's, and the words.
    var told: (about: TraceLine.About, place: Int?, detail: String) {
        switch self {
        case .start(let place): (.nobody, nil, "a worker starts at place \(place)")
        case .kill(let place): (.worker, place, "killed")
        case .stop(let place): (.worker, place, "told to stop")
        case .freeze(let place, let time): (.worker, place, "frozen for \(time.seconds) s")
        case .rebalance: (.nobody, nil, "partitions are dealt out anew")
        case .copyLedger: (.nobody, nil, "the ledger is copied")
        case .setLedgerBack: (.fleet, nil, "the ledger is set back")
        case .setOffsetsBack: (.fleet, nil, "the group's offsets are set back")
        case .makeTopicAnew: (.fleet, nil, "the topic is made anew")
        case .cutTopic: (.fleet, nil, "partitions lose their end")
        case .emptyLedger: (.fleet, nil, "the ledger is emptied")
        case .acceptLedger: (.fleet, nil, "an operator accepts the ledger")
        case .abandon: (.fleet, nil, "an operator abandons a submission")
        case .deploy(let place): (.nobody, nil, "the worker at place \(place) gets another configuration")
        case .heal: (.nobody, nil, "no faults begin any more")
        }
    }
}

extension CallAlert {
    fileprivate var told: (TraceLine.About, String) {
        switch self {
        case .serviceAway(let app, _): (.worker, "service away: \(app)")
        case .serviceStillAway(let app, _, let rows): (.worker, "service still away: \(app), \(rows) rows")
        case .serviceAnswers(let app, _, let rows): (.worker, "service answers: \(app), \(rows) rows")
        case .callsOverdue(let app, let rows, _, _): (.nobody, "\(rows) calls to the service of \(app) are overdue")
        case .callsOverdueOver(let app, _): (.nobody, "no call to the service of \(app) is overdue")
        case .grantsRefused(let app, let rows): (.nobody, "service of \(app) refuses \(rows) grants")
        case .grantsRefusedOver(let app, _): (.nobody, "service of \(app) refuses no grants")
        case .serviceMissing(let app, let rows): (.nobody, "\(rows) rows of \(app) have no service")
        case .serviceMissingOver(let app, _): (.nobody, "no rows of \(app) lack a service")
        }
    }
}
