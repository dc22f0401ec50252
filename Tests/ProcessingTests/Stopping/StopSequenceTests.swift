import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("The phases of a stop")
struct StopSequenceTests {
    private var stop = StopSequence(limit: .seconds(20))
    private let now = Instant.zero

    @Test("has three fifths of the limit for calls under way")
    mutating func calls() {
        stop.begin(at: now)
        #expect(!stop.isRunning && stop.mayCall)
        let early = stop.endCalls(isBusy: true, at: now + .seconds(11))
        let late = stop.endCalls(isBusy: true, at: now + .seconds(12))
        #expect(!early && late && !stop.mayCall)
    }

    @Test("goes on at once where nothing is under way, and each phase once")
    mutating func idle() {
        stop.begin(at: now)
        let (first, second) = (stop.endCalls(isBusy: false, at: now), stop.endCalls(isBusy: false, at: now))
        #expect(first && !second)
        let (third, fourth) = (stop.endPublishing(isBusy: false, at: now), stop.endPublishing(isBusy: false, at: now))
        #expect(third && !fourth)
    }

    @Test("has a fifth of the limit for decisions and events, and another one for the last calls to the ledger")
    mutating func limits() {
        stop.begin(at: now)
        _ = stop.endCalls(isBusy: false, at: now)
        #expect(stop.nextMoment == now + .seconds(4))
        let ended = stop.endPublishing(isBusy: true, at: now + .seconds(4))
        #expect(ended && stop.nextMoment == now + .seconds(8))
    }

    @Test("has five seconds for decisions and events at most")
    mutating func flush() {
        stop = StopSequence(limit: .seconds(60))
        stop.begin(at: now)
        _ = stop.endCalls(isBusy: false, at: now)
        #expect(stop.nextMoment == now + .seconds(5))
    }

    @Test("ends within the limit where every phase is busy to its end", arguments: [1, 5, 20, 600])
    mutating func whole(seconds: Int) throws {
        stop = StopSequence(limit: .seconds(seconds))
        stop.begin(at: now)
        let calls = try #require(stop.nextMoment)
        let first = stop.endCalls(isBusy: true, at: calls)
        let publishing = try #require(stop.nextMoment)
        let second = stop.endPublishing(isBusy: true, at: publishing)
        let last = try #require(stop.nextMoment)
        #expect(first && second && last <= now + .seconds(seconds))
    }

    @Test("gives each lease back once")
    mutating func leases() {
        stop.keep([Fixture.due(1).lease])
        stop.keep([Fixture.due(2).lease])
        let (first, second) = (stop.takeLeases(), stop.takeLeases())
        #expect(first.count == 2 && second.isEmpty)
    }

    @Test("ends at once for a reason that a person must look at")
    mutating func reason() {
        stop.end(for: .unusable(detail: "no such table"))
        #expect(stop.phase == .stopped && stop.reason == .unusable(detail: "no such table"))
    }
}
