import Contract
import Ledger
import Scheduling

/// The machine of events: on their way to the broker, acknowledged, or to be owed in the outbox.
struct Publisher: ~Copyable {
    /// How the publishing of an event ended, for its owner.
    enum Ending {
        case acknowledged(SubmissionToken)
        /// The broker did not take it in time, or refuses it: it is to be owed.
        case untaken(SubmissionToken, OutboxEntry)
        /// The worker stops while it waits for its topic. The next owner reads its record again.
        case left(SubmissionToken)
        case ofRow(OutboxToken, PublishReport.Result)
    }

    private static let republishPause: Duration = .seconds(1)
    /// A record waits so long for the quarantine topic. Then a stub is owed. Otherwise one record would hold its
    /// partition's offset, and in the end all reading, for as long as that topic lacks.
    static let quarantineWait: Duration = .seconds(300)

    /// Most events that one call to the ledger owes; the others are next.
    private let owedPerCall: Int
    private var events: Slab<EventFlight, EventInFlight>
    /// Events that are produced again. Neither the broker nor the outbox takes them, or they are quarantined records.
    private var republishing = DelayQueue<PublishToken>()
    private var owed: [(token: SubmissionToken, entry: OutboxEntry)] = []
    /// Topics' refusals by their causes, which are few: errors of Kafka's and their remedies. Where a topic takes some
    /// events and not others, one that is taken ends nothing.
    private var refusals: [Topic: [String: Reminder]] = [:]

    init(capacity: Int, owedPerCall: Int) {
        events = Slab(vacant: .vacant, capacity: capacity)
        self.owedPerCall = owedPerCall
    }

    var count: Int { events.count }
    var nextMoment: Instant? { republishing.nextDue }
    var hasOwed: Bool { !owed.isEmpty }

    /// The submission of an event; nil for a row of the outbox.
    func submission(of event: PublishToken) -> SubmissionToken? {
        guard events.contains(event), case .submission(let token) = events[event].owner else { return nil }
        return token
    }

    /// - Parameter entry: its entry in the outbox if the broker does not take it; nil for an event that is there
    ///   already.
    mutating func publish(
        _ event: Event, _ owner: EventFlight.Owner, _ entry: OutboxEntry?, _ turn: inout Turn
    ) {
        let token = events.insert(EventFlight(owner: owner, entry: entry, event: event, since: turn.now))
        turn.actions.publishes.append(PublishTask(token: token, event: event))
    }

    /// Produces events again whose pause is over. If the partition of one is gone, its next owner publishes it.
    /// - Returns: the submissions that leave for that.
    mutating func republish(in flights: Flights, _ turn: inout Turn) -> [SubmissionToken] {
        var leaving: [SubmissionToken] = []
        while let token = republishing.popDue(at: turn.now) {
            guard events.contains(token) else { continue }
            if case .submission(let submission) = events[token].owner,
                !flights.contains(submission) || flights[submission].isOrphan
            {
                events.remove(token)
                leaving.append(submission)
            } else {
                turn.actions.publishes.append(PublishTask(token: token, event: events[token].event))
            }
        }
        return leaving
    }

    /// The broker has an event, or does not take it.
    /// - Parameter isOutboxFull: whether the event waits for the broker instead.
    /// - Returns: how that ended; nil while it has not.
    mutating func ended(_ report: PublishReport, isOutboxFull: Bool, _ turn: inout Turn) -> Ending? {
        let token = report.token
        guard events.contains(token) else { return nil }
        let topic = events[token].event.topic
        // A stub follows a record that is too large. If the topic does not take that either, it is told then.
        let isTooLarge = isQuarantine(token) && report.result == .tooLarge
        let waitsForTopic =
            isQuarantine(token) && !isTooLarge && turn.now - events[token].since < Self.quarantineWait
        if let cause = report.cause, !isTooLarge { refused(topic, cause, &turn) }
        if report.result == .acknowledged { taken(topic, &turn) }
        switch (events[token].owner, report.result) {
        case (.outbox(let row), let result):
            events.remove(token)
            return .ofRow(row, result)
        case (.submission(let submission), .acknowledged):
            events.remove(token)
            return .acknowledged(submission)
        case (.submission(let submission), .failed), (.submission(let submission), .tooLarge):
            if isOutboxFull, topic == .pending {
                // That it waits is still in `retries`, and no reading stops for it.
                events.remove(token)
                return .acknowledged(submission)
            }
            guard !isOutboxFull, !waitsForTopic else {
                republishing.insert(token, due: turn.now + Self.republishPause)
                return nil
            }
            return untaken(token, submission)
        }
    }

    /// Whether an event quarantines its submission's record. The outbox has only a stub for it, by which nobody finds
    /// the record, so it waits for its topic for a while.
    private func isQuarantine(_ token: PublishToken) -> Bool {
        if case .submission = events[token].owner { events[token].event.topic == .quarantined } else { false }
    }

    private mutating func refused(_ topic: Topic, _ cause: String, _ turn: inout Turn) {
        let first = Reminder(quiet: Reminder.quiet)
        let news = refusals[topic, default: [:]][cause, default: first].observe(true, at: turn.now)
        if news != nil { turn.alert(.eventsNotTaken(topic, cause: cause)) }
    }

    private mutating func taken(_ topic: Topic, _ turn: inout Turn) {
        let now = turn.now
        guard !refusals.isEmpty, let causes = refusals[topic], causes.values.allSatisfy({ $0.isQuiet(at: now) }),
            let since = causes.values.compactMap(\.since).min()
        else { return }
        refusals[topic] = nil
        turn.alert(.eventsTaken(topic, after: now - since))
    }

    /// How long ago the outcome of this event's submission was written; nil for a row of the outbox.
    func age(of event: PublishToken, at now: Instant) -> Duration? {
        guard events.contains(event), case .submission = events[event].owner else { return nil }
        return now - events[event].since
    }

    private mutating func untaken(_ token: PublishToken, _ submission: SubmissionToken) -> Ending? {
        let entry = events[token].entry
        events.remove(token)
        return entry.map { .untaken(submission, $0) }
    }

    /// Gives up the events of submissions that the broker has not acknowledged by now, because the worker stops.
    mutating func giveUp() -> [Ending] {
        events.tokens.compactMap { token in
            guard case .submission(let submission) = events[token].owner else { return nil }
            guard !isQuarantine(token) else {
                events.remove(token)
                return .left(submission)
            }
            return untaken(token, submission)
        }
    }

    // MARK: Owed events

    mutating func owe(_ token: SubmissionToken, _ entry: OutboxEntry) { owed.append((token, entry)) }

    /// Writes waiting entries to the outbox in one call.
    mutating func makeOwed(in flights: Flights, _ turn: inout Turn) {
        guard !owed.isEmpty, !turn.ledgerCalls.isUnderWay(.owe) else { return }
        owed.removeAll { !flights.contains($0.token) }
        guard !owed.isEmpty else { return }
        let part = owed.prefix(owedPerCall)
        turn.call(.owe(part.map(\.entry)), for: .owe(part.map(\.token)))
        owed.removeFirst(part.count)
    }
}
