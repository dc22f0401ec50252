import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("When old answers go")
final class AnswerRetentionTests {
    private static let day: Int64 = 86_400_000
    private static let wall = Timestamp(milliseconds: 100 * day)
    private static let places: ClosedRange<Int64> = 0...600

    private var retention = AnswerRetention(
        keep: .seconds(90 * 86_400), worker: "host-1/7", reason: "GRANTOR_KEEP_ANSWERS is 90d", startedAt: .zero,
        unit: 0)
    private var now = Instant.zero
    /// This host's clock.
    private var wall = AnswerRetentionTests.wall
    private var workers = [
        AnswerRetentionTests.row("host-1/7", started: 5), AnswerRetentionTests.row("host-2/7", started: 6),
    ]
    /// Places that have an old answer.
    private var old: Set<Int64> = []
    private var notes: [OperatorNote] = []
    private var rounds: [AnswerRetention.Round] = []

    private static func row(
        _ name: String, started: Int64, seen: Timestamp = wall, isLive: Bool = true
    ) -> WorkerRow {
        WorkerRow(
            name: name, version: "1", startedAt: Timestamp(milliseconds: started), seenAt: seen, isLive: isLive)
    }

    private func next() -> AnswerRetention.Step { retention.next(at: now, wall: wall) }

    /// Carries the next step out, as a driver does.
    /// - Returns: the call; nil for a pause.
    @discardableResult
    private func carryOut() -> AnswerRetention.Call? {
        switch next() {
        case .sleep(let moment), .rest(let moment):
            now = moment
            return nil
        case .call(let call):
            let ended: AnswerRetention.Round?
            switch call {
            case .workers: ended = retention.ended(.workers(workers), at: now)
            case .places: ended = retention.ended(.places(Self.places), at: now)
            case .note(let note):
                notes.append(note)
                ended = retention.ended(.noted, at: now)
            case .prune(let step, _):
                let found = old.filter(step.places.contains)
                if !step.isTrial { old.subtract(found) }
                ended = retention.ended(.pruned(found.count), at: now)
            }
            if let ended { rounds.append(ended) }
            return call
        }
    }

    /// Carries out steps until none comes for so long.
    private func run(for time: Duration) -> [AnswerRetention.Call] {
        let end = now + time
        var calls: [AnswerRetention.Call] = []
        carryOut(until: { now >= end }) { calls.append($0) }
        return calls
    }

    /// Carries out steps until a condition holds.
    private func carryOut(until isDone: () -> Bool, _ take: (AnswerRetention.Call) -> Void = { _ in }) {
        for _ in 0..<100_000 {
            if isDone() { return }
            if let call = carryOut() { take(call) }
        }
        Issue.record("It does not come.")
    }

    @Test("the worker that started first looks a minute after its start, and every six hours")
    func looks() throws {
        #expect(next() == .sleep(until: .zero + .seconds(60)))
        carryOut()
        #expect(next() == .call(.workers))
        carryOut()
        let before = Timestamp(milliseconds: 10 * Self.day)
        #expect(next() == .call(.places(before: before)))
        carryOut()
        let look = try #require(PruneWalk(Self.places, isTrial: true).next)
        #expect(next() == .call(.prune(look, before: before)))
        carryOut()
        #expect(next() == .sleep(until: .zero + .seconds(60) + .seconds(6 * 3600)))
        #expect(notes.isEmpty && rounds.isEmpty, "nothing is told of a round that found nothing")
    }

    @Test("ages count to the ledger's clock, or to this host's where that is behind", arguments: [-1, 1] as [Int64])
    func clocks(lead: Int64) {
        workers[0] = Self.row("host-1/7", started: 5, seen: Timestamp(milliseconds: (100 + lead) * Self.day))
        for _ in 0..<2 { carryOut() }
        let before = Timestamp(milliseconds: (10 + min(lead, 0)) * Self.day)
        #expect(next() == .call(.places(before: before)))
        carryOut()
        now += .seconds(61)
        carryOut()
        guard case .call(.prune(_, before)) = next() else {
            Issue.record("the moment of a round moves")
            return
        }
    }

    @Test("workers that start together do not look together")
    func spread() {
        retention = AnswerRetention(keep: .seconds(1), worker: "w", reason: "", startedAt: .zero, unit: 0.5)
        #expect(next() == .sleep(until: .zero + .seconds(90)))
    }

    @Test("what goes is noted first, goes at a pace, and is told once")
    func deletes() {
        old = Set(1...500)
        let calls = run(for: .seconds(3600))
        let first = calls.firstIndex { if case .note = $0 { true } else { false } }
        let deleting = calls.indices.filter { index in
            if case .prune(let step, _) = calls[index] { !step.isTrial } else { false }
        }
        #expect(first != nil && deleting.first.map { $0 > first ?? 0 } == true)
        #expect(notes.map(\.actor) == ["worker host-1/7"])
        #expect(notes.first?.prunesBefore == Timestamp(milliseconds: 10 * Self.day))
        #expect(notes.first?.reason.hasSuffix(": GRANTOR_KEEP_ANSWERS is 90d") == true)
        #expect(old.isEmpty)
        #expect(rounds.map(\.answers) == [500])
        #expect(rounds.first?.took ?? .zero >= .milliseconds(800), "500 a second, the first 100 at once")
    }

    @Test("of several workers the others leave it to the first of those that live")
    func others() {
        workers = [Self.row("host-0/7", started: 4), Self.row("host-1/7", started: 5)]
        old = [1]
        carryOut()
        #expect(carryOut() == .workers)
        #expect(next() == .sleep(until: .zero + .seconds(60) + .seconds(600)), "in a rolling restart all are young")
        #expect(!old.isEmpty)
        workers[0] = Self.row("host-0/7", started: 4, isLive: false)
        _ = run(for: .seconds(7 * 3600))
        #expect(old.isEmpty)
    }

    @Test("a worker whose sign of life the ledger does not have deletes nothing")
    func unknown() {
        workers = []
        old = [1]
        #expect(run(for: .seconds(3600)).allSatisfy { $0 == .workers } && !old.isEmpty)
    }

    @Test("a long round looks again every minute whose the rounds are, and stops where they are another's")
    func turns() {
        old = Set(1...600)
        for _ in 0..<6 { carryOut() }
        #expect(!old.isEmpty && old.count < 600)
        now += .seconds(61)
        workers.insert(Self.row("host-0/7", started: 4), at: 0)
        #expect(carryOut() == .workers)
        #expect(!old.isEmpty && rounds.map(\.answers) == [600 - old.count], "what went is told")
        #expect(next() == .sleep(until: now + .seconds(600)))
    }

    @Test("a round that the ledger has ended comes again in ten minutes, from the first place on")
    func fails() {
        old = Set(1...600)
        for _ in 0..<6 { carryOut() }
        retention.failed(at: now)
        #expect(next() == .sleep(until: now + .seconds(600)))
        _ = run(for: .seconds(3600))
        #expect(old.isEmpty && notes.count == 2)
    }

    @Test("a round that has failed is noted again for the same moment, until one has ended")
    func failsNoted() {
        old = [1]
        for turn in 0..<4 {
            wall = Self.wall.advanced(by: .seconds(600 * turn))
            workers[0] = Self.row("host-1/7", started: 5, seen: wall)
            carryOut(until: { notes.count > turn })
            retention.failed(at: now)
        }
        #expect(Set(notes.map(\.prunesBefore)) == [Timestamp(milliseconds: 10 * Self.day)])
        _ = run(for: .seconds(3600))
        #expect(old.isEmpty)
        old = [2]
        _ = run(for: .seconds(7 * 3600))
        #expect(notes.last?.prunesBefore == Timestamp(milliseconds: 10 * Self.day).advanced(by: .seconds(1800)))
    }
}
