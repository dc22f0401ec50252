import Scheduling
import Testing

@testable import Worker

@Suite("Signs of life")
struct CoreActivityTests {
    private let start = Instant.now
    private let activity = CoreActivity(checkers: 2)

    private func alive(at moment: Instant) {
        activity.turned(at: moment, isLedgerAway: false)
        activity.heard(at: moment)
    }

    @Test("are missed once a part was silent for 30 s")
    func silent() {
        alive(at: start)
        #expect(activity.silent(at: start + .seconds(29)) == nil)
        #expect(activity.silent(at: start + .seconds(30)) == "The core")
        activity.turned(at: start + .seconds(30), isLedgerAway: false)
        #expect(activity.silent(at: start + .seconds(30)) == "The Kafka consumer")
    }

    @Test("are asked of a checker while it has a chunk")
    func checker() {
        activity.checks(1, since: start)
        alive(at: start + .seconds(30))
        #expect(activity.silent(at: start + .seconds(30)) == "A check")
        activity.checks(1, since: start + .seconds(1))
        #expect(activity.silent(at: start + .seconds(30)) == nil)
        activity.checks(1, since: nil)
        alive(at: start + .seconds(3600))
        #expect(activity.silent(at: start + .seconds(3600)) == nil)
    }
}
