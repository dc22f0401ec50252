import Contract
import Ledger
import Scheduling

/// Events: on their way to the broker, acknowledged, or owed in the outbox.
extension WorkerCore {
    private static let republishPause: Duration = .seconds(1)

    /// Publishes the events of a submission, which is complete once the broker has all of them.
    mutating func publish(_ token: SubmissionToken, _ stored: [StoredEvent], into actions: inout Actions) {
        guard !stored.isEmpty, case .record(_, _, _, let ownership) = flights[token].source else {
            return complete(token)
        }
        move(token, to: .publishing)
        flights[token].unpublished = stored.count
        for event in stored {
            let entry = OutboxEntry(ownership: ownership, key: event.key, delay: 0, stub: nil)
            publish(event.event, .submission(token), entry, into: &actions)
        }
    }

    mutating func publish(
        _ event: Event, _ owner: EventFlight.Owner, _ entry: OutboxEntry?, into actions: inout Actions
    ) {
        let token = events.insert(EventFlight(owner: owner, entry: entry, event: event))
        actions.publishes.append(PublishTask(token: token, event: event))
    }

    mutating func publishAgain(_ token: PublishToken, into actions: inout Actions) {
        guard events.contains(token) else { return }
        actions.publishes.append(PublishTask(token: token, event: events[token].event))
    }

    mutating func publishEnded(_ report: PublishReport, into actions: inout Actions) {
        let token = report.token
        guard events.contains(token) else { return }
        let topic = events[token].event.topic
        if report.result == .acknowledged { refusals[topic] = nil }
        if let cause = report.cause, refusals[topic, default: []].insert(cause).inserted {
            actions.alerts.append(.eventsNotTaken(topic, cause: cause))
        }
        switch (events[token].owner, report.result) {
        case (.submission(let submission), .acknowledged):
            events.remove(token)
            published(submission)
        case (.submission(let submission), .failed): untaken(token, of: submission)
        case (.outbox(let row), let result):
            events.remove(token)
            rowPublished(row, result)
        }
    }

    /// One more event of a submission is with the broker, or in the outbox.
    private mutating func published(_ token: SubmissionToken) {
        guard flights.contains(token) else { return }
        flights[token].unpublished -= 1
        if flights[token].unpublished <= 0 { complete(token) }
    }

    /// The broker did not take an event in time, or refuses it: it is owed in the outbox. Where that is full, the event
    /// waits for the broker instead.
    private mutating func untaken(_ token: PublishToken, of submission: SubmissionToken) {
        if outboxWork.isFull, stopping == .running {
            republishing.insert(token, due: now + Self.republishPause)
            return
        }
        let entry = events[token].entry
        events.remove(token)
        guard flights.contains(submission), let entry else { return }
        // The next owner reads it again. An entry under the old ownership must not reach a ledger that was set back.
        guard !flights[submission].isOrphan else { return leave(submission) }
        move(submission, to: .owing)
        owed.append((submission, entry))
    }

    /// Writes all waiting entries to the outbox in one call.
    mutating func makeOwed(into actions: inout Actions) {
        guard !owed.isEmpty, !ledgerCalls.isUnderWay(.owe) else { return }
        owed.removeAll { !flights.contains($0.token) }
        guard !owed.isEmpty else { return }
        let part = owed.prefix(settings.owedPerCall)
        ledgerCalls.make(.owe(part.map(\.entry)), for: .owe(part.map(\.token)), at: now, into: &actions)
        owed.removeFirst(part.count)
    }

    /// Any worker tells an outcome that is in the outbox. If it is not there, the partition has another owner, who
    /// reads the record again.
    mutating func owedEnded(_ tokens: [SubmissionToken], _ isOwed: [Bool], into actions: inout Actions) {
        for (token, isOwed) in zip(tokens, isOwed) where flights.contains(token) {
            if isOwed { published(token) } else { notOwned(token, into: &actions) }
        }
        outboxWork.schedule(at: now + .seconds(1))
    }
}
