import Purchases
import Testing

@testable import Fulfillment

@Suite("Apple in trouble, hour by hour")
struct OutageSimulationTests {
    private static let answer = (CallOutcome.answered, Duration.milliseconds(250))
    private static let refusal = (CallOutcome.failed, Duration.milliseconds(5))

    @Test("in good times the limits cost nothing: as many calls are made as the bound lets through")
    func goodTimes() {
        var play = CallSimulation { _, _, _ in Self.answer }
        play.run(until: .seconds(60))
        // 200 at once, 4 rounds a second.
        #expect(play.calls.count == 200 * 4 * 60)
        #expect(play.calls.allSatisfy { $0.lane == .first && $0.phase == .closed })
    }

    @Test("half an hour without an answer costs a few probes, and nothing else", arguments: [true, false])
    func outage(answersAtOnce: Bool) {
        let start = Duration.seconds(20)
        let end = start + .seconds(1800)
        let failure = answersAtOnce ? Self.refusal : (CallOutcome.overloaded, Duration.seconds(20))
        var play = CallSimulation { elapsed, _, _ in elapsed >= start && elapsed < end ? failure : Self.answer }
        play.run(until: start + .seconds(25))
        let read = play.read
        play.run(until: end)
        let during = play.calls(from: start + .seconds(25), to: end)
        #expect(during.allSatisfy { $0.phase == .halfOpen })
        #expect(during.count < 400, "\(during.count) calls in half an hour")
        #expect(during.count > 100, "somebody has to notice that it is over")
        #expect(play.calls(from: start, to: start + .seconds(25)).count < 900, "no more than the window holds")
        #expect(play.read == read, "the rest stays in Kafka")

        let settledBefore = play.settled.values.reduce(0, +)
        play.run(until: end + .seconds(15 + 21 + 1))
        let resumed = play.calls.first { $0.at >= end && $0.phase == .ramping }
        #expect(resumed != nil, "the end is noticed")
        play.run(until: end + .seconds(120))
        #expect(play.settled.values.reduce(0, +) - settledBefore > 200 * 4 * 60)
        #expect(play.mostHeld <= 800)
    }

    @Test("after an outage the calls come back by and by, never more of them than the ramp's share")
    func ramp() throws {
        let end = Duration.seconds(120)
        var play = CallSimulation { elapsed, _, _ in elapsed < end ? Self.refusal : Self.answer }
        play.run(until: end + .seconds(60))
        let start = try #require(play.calls.first { $0.at >= end && $0.phase == .ramping }).at
        for (second, share) in [3, 6, 12, 25, 50, 100].enumerated() {
            let calls = play.calls(from: start + .seconds(second), to: start + .seconds(second + 1))
            #expect(calls.allSatisfy { $0.inFlight <= share }, "second \(second)")
            #expect(calls.contains { $0.inFlight == share }, "second \(second): the share is made use of")
        }
        let fresh = play.calls(from: start, to: start + .seconds(6)).filter { $0.lane == .first }
        #expect(fresh.count > 100, "fresh purchases do not wait until all that failed is through")
    }

    @Test("retries are a tenth of the calls and a burst, through an hour in which a third of the calls fails")
    func brownOut() {
        var random = SeededGenerator(seed: 3)
        var play = CallSimulation { _, _, _ in
            Int.random(in: 0..<3, using: &random) == 0 ? (.failed, .milliseconds(250)) : Self.answer
        }
        play.run(until: .seconds(600))
        let retries = play.calls.count { $0.lane == .again }
        let firstTries = play.calls.count - retries
        #expect(retries <= firstTries / 10 + 50 + 50 * 600)
        #expect(play.calls.allSatisfy { $0.phase == .closed })
        // Purchases go on meanwhile.
        #expect(play.settled.values.reduce(0, +) > 100 * 600)
    }

    @Test("a part of the calls that fails at once does not stop those that would be answered", arguments: [5, 15, 30])
    func hastyBrownOut(percent: Int) {
        var random = SeededGenerator(seed: 4)
        var play = CallSimulation { _, _, _ in
            Int.random(in: 0..<100, using: &random) < percent ? Self.refusal : Self.answer
        }
        play.run(until: .seconds(600))
        #expect(play.calls.allSatisfy { $0.phase == .closed })
        #expect(play.settled.values.reduce(0, +) > 100 * 600)
    }

    @Test("an endpoint that flaps every two seconds is not followed up and down")
    func flapping() {
        var play = CallSimulation { elapsed, _, _ in
            elapsed.components.seconds / 2 % 2 == 0 ? Self.answer : Self.refusal
        }
        play.run(until: .seconds(600))
        let late = play.calls(from: .seconds(60), to: .seconds(600))
        // Unlimited it would be 200 calls at once, 800 a second when it answers and 40,000 when it refuses.
        let bySecond = Dictionary(grouping: late) { $0.at.components.seconds }.mapValues(\.count)
        #expect(bySecond.values.max() ?? 0 <= 800, "\(bySecond.values.max() ?? 0)")
        let failed = late.count { $0.outcome == .failed }
        #expect(Double(failed) / 540 < 8, "\(failed) failed calls in nine minutes")
        let opened = late.indices.dropFirst().count { late[$0].phase == .halfOpen && late[$0 - 1].phase != .halfOpen }
        #expect(opened < 540 / 3, "\(opened) times")
        #expect(play.settled.values.reduce(0, +) > 600 * 2)
    }

    @Test("one app's outage does not slow another app down")
    func oneApp() {
        let good = CallTarget.serverAPI(.production, "good")
        let bad = CallTarget.serverAPI(.production, "bad")
        // As many of the bad app's as fit beside the good one's.
        var play = CallSimulation(targets: [good, good, good, good, good, good, good, good, good, bad]) {
            _, target, _ in
            target == good ? Self.answer : Self.refusal
        }
        play.run(until: .seconds(8))
        #expect(play.calls.filter { $0.target == good }.allSatisfy { $0.phase == .closed })
        #expect(play.calls.count { $0.target == bad } < 100)
        #expect(play.settled[good, default: 0] > 5000)
        #expect(play.settled[bad] == nil)
    }

    @Test("one app's refused key stops nobody, that app neither: people mend it, not time")
    func refusedKey() {
        var play = CallSimulation(targets: [.serverAPI(.production, "bad")]) { _, _, _ in (.answered, .milliseconds(50))
        }
        play.run(until: .seconds(10))
        #expect(play.calls.allSatisfy { $0.phase == .closed })
    }

    @Test("when answers queue up at Apple's, fewer calls are made at once, and all again when it is over")
    func latencyRise() {
        let rise = Duration.seconds(60)
        let end = Duration.seconds(240)
        // For three minutes Apple takes 40 calls a second.
        var play = CallSimulation { elapsed, _, inFlight in
            guard elapsed >= rise, elapsed < end else { return Self.answer }
            return (.answered, max(.milliseconds(250), .seconds(Double(inFlight) / 40)))
        }
        play.run(until: end)
        let crowded = play.calls(from: rise + .seconds(60), to: end)
        #expect(crowded.map(\.inFlight).max() ?? 0 < 150)
        #expect(crowded.count > 35 * 120, "as many calls as Apple takes are still made")
        play.run(until: end + .seconds(90))
        let after = play.calls(from: end + .seconds(60), to: end + .seconds(90))
        #expect(after.count > 200 * 4 * 29)
    }
}
