import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("The limit of calls at once")
struct ConcurrencyLimiterTests {
    private var elapsed = Duration.zero
    private var limit = ConcurrencyLimiter(most: 1000)

    /// So many seconds in which all allowed calls are under way.
    private mutating func run(seconds: Int, _ outcome: CallOutcome = .replied, took: (_ inFlight: Int) -> Duration) {
        for _ in 0..<(seconds * 20) {
            elapsed += .milliseconds(50)
            let inFlight = limit.value
            limit.began(inFlight: inFlight)
            limit.advance(to: .zero + elapsed, inFlight: inFlight)
            limit.ended(outcome, took: took(inFlight), inFlight: inFlight, at: .zero + elapsed)
        }
    }

    /// So many round trips. All allowed calls are under way: each is answered, and another one begins.
    private mutating func roundTrips(_ count: Int, took: Duration = .milliseconds(250)) {
        for _ in 0..<count {
            elapsed += took
            for _ in 0..<limit.value {
                limit.began(inFlight: limit.value)
                limit.ended(.replied, took: took, inFlight: limit.value, at: .zero + elapsed)
            }
        }
    }

    @Test("begins with few calls, and doubles them with each round trip while they are brisk")
    mutating func start() {
        #expect(limit.value == 64)
        roundTrips(1)
        #expect(limit.value == 128)
        roundTrips(3)
        #expect(limit.value == 1000)
    }

    @Test("begins with all of them where there are no more than a few")
    func few() {
        #expect(ConcurrencyLimiter(most: 64).value == 64)
        #expect(ConcurrencyLimiter(most: 7).value == 7)
    }

    @Test("grows by a tenth a second while replies take their time")
    mutating func slowStart() {
        roundTrips(2, took: .milliseconds(100))
        elapsed += .seconds(1)
        roundTrips(1, took: .milliseconds(100))
        let begun = limit.value
        roundTrips(2, took: .milliseconds(900))
        #expect(limit.value < begun * 5 / 4, "\(limit.value)")
        roundTrips(40, took: .milliseconds(900))
        #expect(limit.value == 1000)
    }

    @Test("comes down to twice what the last minute used, because connections that nobody uses end")
    mutating func littleUse() {
        roundTrips(20)
        for _ in 0..<2 {
            elapsed += .seconds(59)
            limit.advance(to: .zero + elapsed, inFlight: 10)
            for _ in 0..<300 { limit.began(inFlight: 300) }
            elapsed += .seconds(1)
            limit.advance(to: .zero + elapsed, inFlight: 10)
        }
        #expect(limit.value == 600)
        for _ in 0..<2 {
            elapsed += .seconds(60)
            limit.advance(to: .zero + elapsed, inFlight: 0)
        }
        #expect(limit.value == 64)
        roundTrips(4)
        #expect(limit.value == 1000, "and back as at the start")
    }

    @Test("stays where it is while answers take as long as usual, or a second")
    mutating func steady() {
        run(seconds: 600) { _ in .milliseconds(250) }
        #expect(limit.value == 1000)
        run(seconds: 60) { _ in .milliseconds(900) }
        #expect(limit.value == 1000, "nobody minds a second")
    }

    @Test("comes down until the calls do not queue up at Apple's any more, and back when there is room again")
    mutating func overload() {
        run(seconds: 60) { _ in .milliseconds(250) }
        // A service of 400 calls a second: further calls wait.
        let crowded: (Int) -> Duration = { max(.milliseconds(250), .seconds(Double($0) / 400)) }
        run(seconds: 60, took: crowded)
        #expect(limit.value < 700)
        #expect(limit.value > 300, "the calls that it can take are still made")
        run(seconds: 60) { _ in .milliseconds(250) }
        #expect(limit.value == 1000)
    }

    @Test("comes down when calls time out, to a twentieth at least")
    mutating func timeouts() {
        run(seconds: 120, .overloaded) { _ in .seconds(20) }
        #expect(limit.value == 50)
        run(seconds: 60) { _ in .milliseconds(250) }
        #expect(limit.value == 1000)
    }

    @Test("does not come down because calls are refused at once: fewer of them would not help")
    mutating func refused() {
        roundTrips(20)
        run(seconds: 120, .failed) { _ in .zero }
        #expect(limit.value == 1000)
    }

    @Test("takes slower answers for usual after a while, so that they do not cost calls for ever")
    mutating func newUsual() {
        run(seconds: 60) { _ in .milliseconds(400) }
        run(seconds: 30) { _ in .seconds(3) }
        #expect(limit.value < 500)
        run(seconds: 300) { _ in .seconds(3) }
        #expect(limit.value == 1000)
    }

    @Test(
        "has all its calls again within minutes although each reply takes a quarter of a minute", arguments: [20, 1000])
    mutating func longReplies(most: Int) {
        limit = ConcurrencyLimiter(most: most)
        roundTrips(100)
        roundTrips(9, took: .seconds(15))
        #expect(limit.value <= most / 10)
        roundTrips(8, took: .seconds(15))
        #expect(limit.value == most)
    }

    @Test("never leaves its bounds", arguments: [1, 2, 7, 1000])
    func bounds(most: Int) {
        var random = SplitMix64(seed: UInt64(most))
        var limit = ConcurrencyLimiter(most: most)
        var elapsed = Duration.zero
        let outcomes: [CallOutcome] = [
            .replied, .replied, .replied, .failed, .overloaded, .limited(wait: nil), .unknown,
        ]
        for _ in 0..<50_000 {
            elapsed += .milliseconds(Int.random(in: 0...200, using: &random))
            limit.began(inFlight: Int.random(in: 1...most, using: &random))
            limit.advance(to: .zero + elapsed, inFlight: Int.random(in: 0...most, using: &random))
            limit.ended(
                outcomes.randomElement(using: &random) ?? .replied,
                took: .milliseconds(Int.random(in: 0...30_000, using: &random)),
                inFlight: Int.random(in: 1...most, using: &random), at: .zero + elapsed)
            guard limit.value >= 1, limit.value >= most / 20, limit.value <= most else {
                #expect(Bool(false), "\(limit.value) of \(most)")
                return
            }
        }
    }

    @Test("takes a steady share of timeouts for usual, because fewer calls do not help against it")
    mutating func steadyTimeouts() {
        roundTrips(20)
        for call in 0..<30_000 {
            elapsed += .milliseconds(20)
            let isLost = call % 10 < 3
            limit.began(inFlight: limit.value)
            limit.ended(
                isLost ? .overloaded : .replied, took: isLost ? .seconds(20) : .milliseconds(250),
                inFlight: limit.value, at: .zero + elapsed)
            if call == 600 { #expect(limit.value < 100) }
        }
        #expect(limit.value == 1000)
        #expect(limit.latest.map { $0 > .seconds(5) } == true, "calls without a reply take their time, too")
    }
}
