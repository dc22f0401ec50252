import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("An endpoint's gate")
final class EndpointGateTests {
    private var gate = EndpointGate(key: .apple(Fixture.verifyReceipt), rate: nil, mostCalls: 20)
    private var flights = Flights(vacant: .vacant, capacity: 128)
    private var now = Instant.zero + .seconds(1)

    @discardableResult
    private func enter(_ lane: EndpointGate.Lane = .first, isRow: Bool = false) -> SubmissionToken {
        var flight = isRow ? Flight(Fixture.due(0)) : Flight(.nobody)
        flight.state = .waiting
        let token = flights.insert(flight)
        gate.enter(token, lane, isRow: isRow, at: now)
        return token
    }

    private func shed(_ crowding: Crowding = .little) -> (excess: EndpointGate.Excess, gone: [SubmissionToken])? {
        gate.shed(crowding: crowding, at: now, in: flights)
    }

    private func next() -> (token: SubmissionToken, pass: EndpointGate.Pass)? { gate.next(at: now, in: flights) }

    private func end(_ pass: EndpointGate.Pass, _ outcome: CallOutcome) {
        gate.ended(pass, outcome, isRetry: pass.lane != .first, took: .milliseconds(100), at: now, unit: 0.5)
    }

    private func open() {
        while gate.breaker.phase == .closed {
            enter()
            guard let (_, pass) = next() else { return }
            end(pass, .failed)
        }
        #expect(gate.breaker.phase == .open)
    }

    @Test("lets as many calls go at once as its limit has, in the order in which they came")
    func concurrency() throws {
        let tokens = (0..<30).map { _ in enter() }
        var passes: [EndpointGate.Pass] = []
        for token in tokens.prefix(20) {
            let (next, pass) = try #require(self.next())
            #expect(next == token)
            passes.append(pass)
        }
        #expect(next() == nil)
        #expect(gate.waiting == 10)
        #expect(gate.held == 30)
        end(passes[0], .replied)
        #expect(next()?.token == tokens[20])
    }

    @Test("wants no turn while all that wait need a call to end first")
    func noMoment() throws {
        for _ in 0..<30 { enter(.retry) }
        while next() != nil {}
        #expect(gate.inFlight > 0 && gate.waiting > 0)
        let moment = gate.nextMoment(crowding: .little, after: now)
        now += .seconds(60)
        while next() != nil {}
        #expect(gate.inFlight == 20 && gate.waiting == 10)
        #expect(moment != nil, "the budget of retries fills with time")
        #expect(gate.nextMoment(crowding: .little, after: now) == nil)
    }

    @Test("lets continuations go first, and one retry in four while first attempts wait")
    func lanes() throws {
        for _ in 0..<8 { enter(.retry) }
        for _ in 0..<8 { enter(.first) }
        let continuation = enter(.continuation)
        #expect(next()?.token == continuation)
        let lanes = try (0..<8).map { _ in try #require(next()).pass.lane }
        #expect(lanes.count { $0 == .retry } == 2)
    }

    @Test("lets a tenth of first attempts be retries, and a burst")
    func budget() {
        for _ in 0..<50 { enter(.retry) }
        var retries = 0
        while let (_, pass) = next() {
            retries += 1
            end(pass, .replied)
        }
        #expect(retries == 10)
        #expect(gate.nextMoment(crowding: .little, after: now) != nil)
    }

    @Test("skips those that have left")
    func left() {
        let gone = enter()
        let there = enter()
        flights.remove(gone)
        gate.withdraw(isRow: false)
        #expect(next()?.token == there)
        #expect(gate.waiting == 0)
        #expect(next() == nil)
    }

    @Test("lets nobody go while its breaker is open, keeps three as probes and sends the others away")
    func away() {
        open()
        for _ in 0..<10 { enter() }
        #expect(next() == nil)
        #expect(shed()?.gone.count == 7)
        #expect(gate.waiting == 3)
        now += .seconds(2)
        gate.advance(to: now)
        #expect(next() != nil)
    }

    @Test("keeps continuations through a short outage, and with a long one as probes alone")
    func continuations() throws {
        open()
        for _ in 0..<10 { enter(.continuation) }
        enter(.first)
        #expect(shed()?.gone.count == 1)
        #expect(gate.waiting == 10)
        now += .seconds(31)
        gate.advance(to: now)
        #expect(shed()?.gone.count == 7)
        #expect(gate.waiting == 3)
        #expect(try #require(next()).pass.lane == .continuation)
    }

    @Test("is away for long as soon as it names a long pause")
    func namedPause() throws {
        enter()
        let (_, pass) = try #require(next())
        end(pass, .limited(wait: .seconds(900)))
        for _ in 0..<10 { enter(.continuation) }
        #expect(shed()?.gone.count == 7)
    }

    @Test("leaves its calls to due rows while submissions wait for room in retries")
    func delayed() {
        gate.delayed = 100
        #expect(result { gate.dueRoom(at: now) } == 20)
        gate.delayed = 0
        open()
        gate.delayed = 100
        now += .seconds(3600)
        #expect(result { gate.dueRoom(at: now) } == CircuitBreaker.Policy.repliesToRamp)
        #expect(gate.breaker.phase == .halfOpen)
    }

    @Test("takes due rows as many as it may call, and none of an open one")
    func dueRoom() {
        #expect(result { gate.dueRoom(at: now) } == 20, "whatever the budget of retries is")
        open()
        #expect(result { gate.dueRoom(at: now) } == 0)
    }

    /// Takes rows of the outbox as often as it has room for some, but at most four times.
    private func takeRows(_ lane: EndpointGate.Lane) -> (passes: [EndpointGate.Pass], refused: Int) {
        var passes: [EndpointGate.Pass] = []
        var refused = 0
        for _ in 0..<4 {
            for _ in 0..<gate.callRoom(at: now) {
                if let pass = gate.pass(lane, at: now) { passes.append(pass) } else { refused += 1 }
            }
        }
        return (passes, refused)
    }

    @Test(
        "takes rows of the outbox for calls that it lets go, in every phase; of probes it refuses one retry at most",
        arguments: [(EndpointGate.Lane.first, 2, 0), (EndpointGate.Lane.retry, 1, 1)])
    func callRoom(lane: EndpointGate.Lane, probes: Int, refused: Int) {
        gate = EndpointGate(key: .service("app"), rate: nil, mostCalls: 20)
        func expect(_ phase: CircuitBreaker.Phase, _ passed: Int, _ refused: Int) {
            let taken = takeRows(lane)
            #expect(gate.breaker.phase == phase && taken.passes.count == passed && taken.refused == refused)
            for pass in taken.passes { end(pass, phase == .closed ? .failed : .replied) }
        }
        expect(.closed, 20, 0)
        expect(.open, 0, 0)
        now += .seconds(2)
        expect(.halfOpen, probes, refused)
        while gate.breaker.phase == .halfOpen { for pass in takeRows(lane).passes { end(pass, .replied) } }
        expect(.ramping, 1, 0)
        now += .seconds(6)
        expect(.closed, 20, 0)
    }

    @Test("takes no due rows beyond its present share of calls while it is ramping")
    func rampingRoom() throws {
        open()
        now += .seconds(2)
        gate.advance(to: now)
        for _ in 0..<3 {
            enter()
            let (_, pass) = try #require(next())
            end(pass, .replied)
        }
        #expect(gate.breaker.phase == .ramping)
        #expect(result { gate.dueRoom(at: now) } == 1)
        now += .seconds(5)
        #expect(result { gate.dueRoom(at: now) } == 10)
    }

    @Test("takes three probes from retries when its pause is over and nobody waits")
    func probes() {
        open()
        now += .seconds(2)
        #expect(result { gate.dueRoom(at: now) } == 3)
    }

    /// Lets calls go that hang, opens the breaker beside them, and waits for the end of its pause.
    private func openBesideCalls(_ hanging: Int) {
        for _ in 0..<hanging { enter() }
        for _ in 0..<hanging { #expect(next() != nil) }
        open()
        now += .seconds(2)
        gate.advance(to: now)
        #expect(gate.breaker.phase == .halfOpen && gate.inFlight == hanging)
    }

    @Test("takes its probes whatever calls of before its pause hang, and three at most, with those that wait here")
    func probesBesideCalls() throws {
        openBesideCalls(10)
        #expect(!gate.hasProbe)
        #expect(result { gate.dueRoom(at: now) } == 3)
        enter()
        #expect(gate.hasProbe)
        #expect(result { gate.dueRoom(at: now) } == 2)
        #expect(next() != nil)
        #expect(gate.hasProbe && gate.waiting == 0)
        #expect(result { gate.dueRoom(at: now) } == 2)
        enter()
        enter()
        #expect(next() != nil && next() == nil, "two probes are under way")
        #expect(result { gate.dueRoom(at: now) } == 0)
    }

    @Test("is worth a look for rows of the outbox with a quarter of its calls free, and for each probe")
    func worthACall() throws {
        gate = EndpointGate(key: .service("app"), rate: nil, mostCalls: 20)
        let passes = takeRows(.first).passes
        #expect(passes.count == 20)
        for pass in passes[..<4] { end(pass, .replied) }
        #expect(!result { gate.isCallRoomWorthACall(at: now) })
        end(passes[4], .replied)
        #expect(result { gate.isCallRoomWorthACall(at: now) })
        for pass in passes[5..<10] { end(pass, .replied) }
        while gate.breaker.phase == .closed, let pass = gate.pass(.first, at: now) { end(pass, .failed) }
        now += .seconds(2)
        #expect(result { gate.isCallRoomWorthACall(at: now) })
        #expect(gate.breaker.phase == .halfOpen && gate.inFlight == 10)
        for _ in 0..<2 { #expect(result { gate.pass(.first, at: now) } != nil) }
        #expect(!result { gate.isCallRoomWorthACall(at: now) })
    }

    @Test("counts as away when gates are crowded and it has answered nothing for a second")
    func silent() throws {
        for _ in 0..<30 { enter() }
        while next() != nil {}
        #expect(shed(.half) == nil)
        #expect(gate.nextMoment(crowding: .half, after: now) == now + .seconds(1))
        #expect(gate.nextMoment(crowding: .little, after: now) == nil)
        now += .seconds(1)
        #expect(shed(.little) == nil)
        #expect(shed(.half)?.excess == .away)
        #expect(gate.waiting == 0, "the calls under way find out whether it is back")
    }

    @Test("is not silent when the first submission comes after a pause, even if others wait to be repeated")
    func pause() throws {
        gate.delayed = 5
        now += .seconds(60)
        for _ in 0..<5 { enter() }
        #expect(shed(.half) == nil)
    }

    @Test("sends away records that would wait for its rate limit for more than half a minute")
    func rateLimit() throws {
        gate.setRate(2)
        for _ in 0..<100 { enter() }
        var calls = 0
        while next() != nil { calls += 1 }
        #expect(calls == 2)
        let (excess, gone) = try #require(shed())
        #expect(excess == .beyondRate)
        #expect(gone.count == 38)
        #expect(shed() == nil)
        now += .milliseconds(600)
        #expect(next() != nil)
    }

    @Test("sends them away after a second where gates are crowded, and keeps the due rows that it took")
    func rateLimitOfTheCrowded() throws {
        gate.setRate(10)
        for _ in 0..<40 { enter() }
        let rows = (0..<5).map { _ in enter(isRow: true) }
        while next() != nil {}
        #expect(shed() == nil)
        let (excess, gone) = try #require(shed(.half))
        #expect(excess == .beyondRate)
        #expect(gone.count == 20)
        #expect(Set(gone).isDisjoint(with: rows))
        #expect(gate.waiting == 15)
        #expect(shed(.half) == nil)
    }

    /// Keeps sixty waiting. Their calls are replied to after half of so long to one and a half. The calls that ended.
    private func run(for time: Duration, replyingAfter latency: Duration) -> Int {
        var underWay: [(pass: EndpointGate.Pass, took: Duration, end: Instant)] = []
        var (begun, ended) = (0, 0)
        let end = now + time
        while now < end {
            now += .milliseconds(50)
            for call in underWay where call.end <= now {
                gate.ended(call.pass, .replied, isRetry: false, took: call.took, at: now, unit: 0.5)
                ended += 1
            }
            underWay.removeAll { $0.end <= now }
            gate.advance(to: now)
            while gate.waiting < 60 { enter() }
            while let (token, pass) = next() {
                flights.remove(token)
                let took = latency * (0.5 + Double(begun % 21) / 20)
                underWay.append((pass, took, now + took))
                begun += 1
            }
        }
        for call in underWay { self.end(call.pass, .unknown) }
        return ended
    }

    @Test("an endpoint whose replies take long has all its calls after minutes, because a slow reply is a reply")
    func slowReplies() {
        _ = run(for: .seconds(60), replyingAfter: .milliseconds(250))
        _ = run(for: .seconds(300), replyingAfter: .seconds(15))
        let most = 20 * 300 / 15
        #expect(run(for: .seconds(300), replyingAfter: .seconds(15)) >= most * 9 / 10)
        #expect(gate.breaker.phase == .closed)
    }

    @Test("sends records away while its calls take long and gates are mostly full, and keeps three and the due rows")
    func slowForTheCrowded() throws {
        _ = run(for: .seconds(60), replyingAfter: .milliseconds(250))
        #expect(shed(.mostly) == nil)
        _ = run(for: .seconds(300), replyingAfter: .seconds(10))
        let rows = (0..<5).map { _ in enter(isRow: true) }
        #expect(shed(.half) == nil)
        let (excess, gone) = try #require(shed(.mostly))
        #expect(excess == .slow)
        #expect(gone.count == 57)
        #expect(Set(gone).isDisjoint(with: rows))
        #expect(shed(.mostly) == nil)
    }

    @Test("has calls for no more repeated attempts than its budget of retries has now")
    func budgetForRepeats() {
        #expect(result { gate.hasBudgetForRepeat(at: now) })
        gate.delayed = 6
        for _ in 0..<3 { enter(.retry) }
        #expect(result { gate.hasBudgetForRepeat(at: now) }, "ten in all")
        enter(.retry)
        #expect(!result { gate.hasBudgetForRepeat(at: now) })
        gate.delayed = 0
        #expect(result { gate.hasBudgetForRepeat(at: now) })
    }

    @Test("has room for one due row at a time while it does not reply, because it may be away")
    func silentRoom() {
        enter()
        #expect(result { next() } != nil)
        #expect(result { gate.dueRoom(at: now) } == 19)
        now += .seconds(1)
        #expect(result { gate.dueRoom(at: now) } == 1)
        enter(isRow: true)
        #expect(result { gate.dueRoom(at: now) } == 0)
    }

    @Test("has room for no due row while it is open, however long it has been silent")
    func openRoom() throws {
        enter()
        let (_, pass) = try #require(next())
        end(pass, .limited(wait: .seconds(900)))
        for _ in 0..<3 { enter() }
        now += .seconds(2)
        #expect(gate.breaker.phase == .open && gate.isSilent(at: now))
        #expect(result { gate.dueRoom(at: now) } == 0)
    }

    @Test("says how many more records may wait: three for an endpoint that is away or slow, a second's calls at most")
    func recordRoom() {
        #expect(gate.roomForRecords(crowding: .half, at: now) == .max)
        gate.setRate(10)
        enter()
        enter(isRow: true)
        #expect(
            gate.roomForRecords(crowding: .half, at: now) == 19, "a burst and a second, without the one that waits")
        gate.setRate(nil)
        _ = run(for: .seconds(300), replyingAfter: .seconds(10))
        #expect(gate.roomForRecords(crowding: .little, at: now) == .max)
        #expect(gate.roomForRecords(crowding: .mostly, at: now) == 3 - 60, "before the others are shed")
        open()
        #expect(gate.roomForRecords(crowding: .little, at: now) <= 3)
    }

    @Test("is silent no sooner than its calls end, where they take long")
    func silentAndSlow() {
        _ = run(for: .seconds(300), replyingAfter: .seconds(1))
        while next() != nil {}
        now += .milliseconds(1900)
        #expect(shed(.half) == nil)
        now += .milliseconds(200)
        #expect(shed(.half)?.excess == .away)
    }

    @Test("has room for due rows however many records wait: a quarter of these, or of its calls")
    func roomBesideRecords() {
        for _ in 0..<8 { enter() }
        #expect(result { gate.dueRoom(at: now) } == 5, "a quarter of its calls")
        for _ in 0..<52 { enter() }
        #expect(result { gate.dueRoom(at: now) } == 15, "a quarter of the records")
        for _ in 0..<10 { enter(.retry, isRow: true) }
        #expect(result { gate.dueRoom(at: now) } == 5)
        for _ in 0..<10 { enter(.retry, isRow: true) }
        #expect(result { gate.dueRoom(at: now) } == 0)
        var lanes: [EndpointGate.Lane] = []
        while let (_, pass) = next() { lanes.append(pass.lane) }
        #expect(lanes.count == 20)
        #expect(lanes.contains(.retry) && lanes.contains(.first))
    }

    @Test("takes no more due rows than its rate limit lets go in two seconds, and at least one")
    func roomOfTheRate() throws {
        gate.setRate(3)
        #expect(result { gate.dueRoom(at: now) } == 6, "three at once, and three within a second")
        gate.setRate(0.01)
        enter(.retry, isRow: true)
        let (_, pass) = try #require(next())
        #expect(result { gate.dueRoom(at: now) } == 0)
        end(pass, .replied)
        #expect(result { gate.dueRoom(at: now) } == 1)
    }

    @Test("gives a call back that was not made")
    func unknown() throws {
        gate.setRate(1)
        enter()
        let (_, pass) = try #require(next())
        end(pass, .unknown)
        enter()
        #expect(next() != nil)
    }
}
