import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("The publisher")
final class PublisherTests {
    private var turn = Turn(seed: 1)
    private var publisher = Publisher(capacity: 16, owedPerCall: 2)
    private var flights = Flights(vacant: .vacant, capacity: 16)

    private func entry(_ id: String) -> OutboxEntry {
        OutboxEntry(
            ownership: PartitionOwnership(partition: Fixture.partition, generation: Generation(rawValue: 1)),
            key: Fixture.rendered(id).key, delay: 0, stub: nil)
    }

    /// Publishes an event of a submission in flight.
    private func publish(_ id: String = "1") -> (SubmissionToken, PublishToken) {
        let submission = flights.insert(Flight(.nobody))
        publisher.publish(Fixture.rendered(id).event, .submission(submission), entry(id), &turn)
        return (submission, turn.actions.publishes.removeLast().token)
    }

    private func end(
        _ token: PublishToken, _ result: PublishReport.Result, cause: String? = nil, isOutboxFull: Bool = false
    ) -> Publisher.Ending? {
        publisher.ended(
            PublishReport(token: token, result: result, cause: cause), isOutboxFull: isOutboxFull, &turn)
    }

    @Test("says once that the broker has an event")
    func acknowledged() {
        let (submission, event) = publish()
        guard case .acknowledged(submission) = end(event, .acknowledged) else { return fail() }
        let again = end(event, .acknowledged)
        #expect(again == nil)
        let count = publisher.count
        #expect(count == 0)
    }

    @Test("gives an event that the broker does not take to the outbox")
    func untaken() {
        let (submission, event) = publish()
        guard case .untaken(submission, entry("1")) = end(event, .failed) else { return fail() }
    }

    @Test("publishes it again after a second while the outbox is full")
    func full() {
        let (_, event) = publish()
        let ending = end(event, .failed, isOutboxFull: true)
        #expect(ending == nil)
        _ = publisher.republish(in: flights, &turn)
        #expect(turn.actions.publishes.isEmpty)
        turn.wait(.seconds(1))
        _ = publisher.republish(in: flights, &turn)
        #expect(turn.actions.publishes.map(\.token) == [event])
    }

    @Test("tells each cause of a topic's refusal once, every ten minutes while it lasts, and its end")
    func refusals() {
        let refusal = Alert.eventsNotTaken(.granted, cause: "too large")
        for _ in 0..<2 { _ = end(publish().1, .failed, cause: "too large") }
        #expect(turn.actions.alerts == [refusal])
        turn.wait(.seconds(600))
        _ = end(publish().1, .failed, cause: "too large")
        #expect(turn.actions.alerts == [refusal, refusal])
        turn.wait(.seconds(60))
        _ = end(publish().1, .acknowledged)
        #expect(turn.actions.alerts.last == .eventsTaken(.granted, after: .seconds(660)))
        _ = end(publish().1, .failed, cause: "too large")
        #expect(turn.actions.alerts.last == refusal)
    }

    @Test("does not tell that a record is too large for the quarantine topic, but that its stub is")
    func quarantined() {
        let stub = QuarantinedEvent.event(of: QuarantineStub(of: Fixture.record(0), reason: "no JSON"))
        func refuse(_ owner: EventFlight.Owner) {
            publisher.publish(stub, owner, nil, &turn)
            _ = end(turn.actions.publishes.removeLast().token, .tooLarge, cause: "too large")
        }
        refuse(.submission(flights.insert(Flight(.nobody))))
        #expect(turn.actions.alerts.isEmpty)
        refuse(.outbox(OutboxToken(slot: 0, use: 1)))
        #expect(turn.actions.alerts == [.eventsNotTaken(.quarantined, cause: "too large")])
    }

    @Test("does not take one event for the end of refusals where others are refused beside it")
    func mixed() {
        for _ in 0..<10 {
            _ = end(publish().1, .failed, cause: "too large")
            _ = end(publish().1, .acknowledged)
            turn.wait(.seconds(1))
        }
        #expect(turn.actions.alerts == [.eventsNotTaken(.granted, cause: "too large")])
    }

    @Test("tells the end of a topic's refusals once all its causes are away, from the first one on")
    func causes() {
        _ = end(publish().1, .failed, cause: "too large")
        turn.wait(.seconds(30))
        _ = end(publish().1, .failed, cause: "denied")
        turn.wait(.seconds(40))
        _ = end(publish().1, .acknowledged)
        #expect(turn.actions.alerts.count == 2)
        turn.wait(.seconds(20))
        _ = end(publish().1, .acknowledged)
        #expect(turn.actions.alerts.dropFirst(2) == [.eventsTaken(.granted, after: .seconds(90))])
    }

    @Test("knows how long ago the outcome was written that an event tells")
    func age() {
        let (_, event) = publish()
        turn.wait(.seconds(3))
        let age = publisher.age(of: event, at: turn.now)
        #expect(age == .seconds(3))
        publisher.publish(Fixture.rendered("2").event, .outbox(OutboxToken(slot: 0, use: 1)), nil, &turn)
        let owed = turn.actions.publishes.last.flatMap { publisher.age(of: $0.token, at: turn.now) }
        #expect(owed == nil)
    }

    @Test("owes as many events as one call may have, and the others in the next one")
    func owed() {
        for id in ["1", "2", "3"] { publisher.owe(publish(id).0, entry(id)) }
        publisher.makeOwed(in: flights, &turn)
        publisher.makeOwed(in: flights, &turn)
        guard case .owe(let first) = turn.calls.last else { return fail() }
        #expect(first == [entry("1"), entry("2")])
        turn.endCalls()
        publisher.makeOwed(in: flights, &turn)
        guard case .owe(let second) = turn.calls.last else { return fail() }
        #expect(second == [entry("3")])
    }

    @Test("owes nothing of a submission that has left meanwhile")
    func left() {
        let (submission, _) = publish()
        publisher.owe(submission, entry("1"))
        flights.remove(submission)
        publisher.makeOwed(in: flights, &turn)
        #expect(turn.calls.isEmpty)
    }

    @Test("gives up the events of submissions at a stop, and not those of the outbox")
    func givenUp() {
        let (submission, _) = publish()
        publisher.publish(
            Fixture.rendered("2").event, .outbox(OutboxToken(slot: 0, use: 1)), nil, &turn)
        let endings = publisher.giveUp()
        guard endings.count == 1, case .untaken(submission, _) = endings.first else {
            return fail()
        }
    }
}
