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

    @Test("hinder a worker where they are missed, whatever it said of itself before")
    func hindrance() {
        alive(at: start)
        activity.joined(true)
        #expect(activity.hindrance(at: start + .seconds(29)) == nil)
        activity.heard(at: start + .seconds(30))
        #expect(activity.hindrance(at: start + .seconds(30)) == "The core shows no sign of life.")
        alive(at: start + .seconds(30))
        activity.checks(0, since: start)
        #expect(activity.hindrance(at: start + .seconds(30)) == "A check shows no sign of life.")
    }
}

@Suite("A worker of which a part hangs")
struct SilenceWatchTests {
    private let start = Instant.now
    private let activity = CoreActivity(checkers: 1)
    private var watch: SilenceWatch

    init() {
        watch = SilenceWatch(from: start)
        alive(at: start)
    }

    private func alive(at moment: Instant) {
        activity.turned(at: moment, isLedgerAway: false)
        activity.heard(at: moment)
    }

    /// Looks in time until something has to end the worker.
    private mutating func look(from first: Int, through last: Int) -> String? {
        for second in stride(from: first, through: last, by: 5) {
            if let part = watch.look(at: start + .seconds(second), activity) { return "\(part) at \(second)" }
        }
        return nil
    }

    @Test("ends after a minute of silence, later than a supervisor that asks would end it")
    mutating func ends() {
        activity.heard(at: start + .seconds(3600))
        let part = look(from: 5, through: 120)
        #expect(part == "The core at 60")
    }

    @Test("ends for a check that lasts, while the other parts go on")
    mutating func check() {
        activity.checks(0, since: start + .seconds(1))
        alive(at: start + .seconds(3600))
        let part = look(from: 5, through: 120)
        #expect(part == "A check at 65")
    }

    @Test("goes on while each part shows signs of life")
    mutating func lives() {
        for minute in 0..<10 {
            alive(at: start + .seconds(minute * 60))
            let part = look(from: minute * 60 + 5, through: minute * 60 + 55)
            #expect(part == nil)
        }
    }

    @Test("is not one that was frozen as a whole, unless a part stays silent for half a minute after that")
    mutating func frozen() {
        let before = look(from: 5, through: 10)
        let woken = look(from: 3600, through: 3620)
        #expect(before == nil && woken == nil)
        var other = self
        alive(at: start + .seconds(3622))
        let lives = look(from: 3625, through: 3680)
        #expect(lives == nil)
        activity.heard(at: start + .seconds(7200))
        activity.turned(at: start, isLedgerAway: false)
        let hangs = other.look(from: 3625, through: 3680)
        #expect(hangs == "The core at 3630")
    }

    @Test("is looked at every five seconds, however often its process is woken")
    mutating func pause() {
        #expect(watch.nextLook == start + .seconds(5))
        for second in 1...4 {
            let part = watch.look(at: start + .seconds(second), activity)
            #expect(part == nil && watch.nextLook == start + .seconds(5))
        }
        _ = watch.look(at: start + .seconds(7), activity)
        #expect(watch.nextLook == start + .seconds(12))
    }
}
