import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("Quarantined records")
final class QuarantineWatchTests {
    private var turn = Turn(seed: 1)
    private var watch = QuarantineWatch()

    private func found(_ kind: QuarantineReason.Kind, _ offsets: Range<Int64>) {
        for offset in offsets { watch.found(kind, at: Fixture.origin(offset), turn.now) }
        watch.tell(&turn)
    }

    private func takeAlerts() -> [Alert] {
        defer { turn.actions.alerts = [] }
        return turn.actions.alerts
    }

    @Test("are told of at once for each reason, with the first, and counted from then on")
    func first() {
        found(.notJSON, 0..<3)
        found(.notJSON, 3..<9)
        found(.userID, 9..<10)
        #expect(
            takeAlerts() == [
                .quarantined(.notJSON, records: 3, example: Fixture.origin(0)),
                .quarantined(.userID, records: 1, example: Fixture.origin(9)),
            ])
        #expect(watch.totals == [.notJSON: 9, .userID: 1])
    }

    @Test("are told of again after ten minutes, with all that came meanwhile, and not if none came")
    func again() {
        found(.notJSON, 0..<1)
        found(.notJSON, 1..<4)
        _ = takeAlerts()
        turn.wait(.seconds(599))
        watch.tell(&turn)
        #expect(takeAlerts().isEmpty)
        turn.wait(.seconds(1))
        watch.tell(&turn)
        #expect(takeAlerts() == [.quarantined(.notJSON, records: 3, example: Fixture.origin(1))])
        turn.wait(.seconds(600))
        watch.tell(&turn)
        #expect(takeAlerts().isEmpty)
    }

    @Test("name the moment at which they are told next, which is none where all are told")
    func nextMoment() {
        let start = turn.now
        found(.notJSON, 0..<1)
        #expect(watch.nextMoment == nil)
        turn.wait(.seconds(60))
        found(.userID, 1..<2)
        found(.userID, 2..<3)
        #expect(watch.nextMoment == start + .seconds(660))
        found(.notJSON, 3..<4)
        #expect(watch.nextMoment == start + .seconds(600))
        turn.wait(.seconds(540))
        watch.tell(&turn)
        #expect(watch.nextMoment == start + .seconds(660))
    }

    @Test("are all told of at the end, once")
    func end() {
        found(.notJSON, 0..<1)
        found(.notJSON, 1..<4)
        _ = takeAlerts()
        for _ in 0..<2 { watch.tellAll(&turn) }
        #expect(takeAlerts() == [.quarantined(.notJSON, records: 3, example: Fixture.origin(1))])
        #expect(watch.nextMoment == nil)
    }
}
