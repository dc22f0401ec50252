import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("An endpoint's gate")
final class EndpointGateTests {
    private var gate = EndpointGate(key: .apple(Fixture.verifyReceipt), rate: nil, mostCalls: 20)
    private var flights = Flights(vacant: .vacant, capacity: 16)
    private var now = Instant.zero + .seconds(1)

    @discardableResult
    private func enter(_ lane: EndpointGate.Lane = .first) -> SubmissionToken {
        var flight = Flight(.nobody)
        flight.state = .waiting
        let token = flights.insert(flight)
        gate.enter(token, lane, at: now)
        return token
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
        let moment = gate.nextMoment(areCrowded: false, after: now)
        now += .seconds(60)
        while next() != nil {}
        #expect(gate.inFlight == 20 && gate.waiting == 10)
        #expect(moment != nil, "the budget of retries fills with time")
        #expect(gate.nextMoment(areCrowded: false, after: now) == nil)
    }

    @Test("lets continuations go first, and one first attempt in four while retries wait")
    func lanes() throws {
        for _ in 0..<8 { enter(.retry) }
        for _ in 0..<8 { enter(.first) }
        let continuation = enter(.continuation)
        #expect(next()?.token == continuation)
        let lanes = try (0..<8).map { _ in try #require(next()).pass.lane }
        #expect(lanes.count { $0 == .first } == 2)
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
        #expect(gate.nextMoment(areCrowded: false, after: now) != nil)
    }

    @Test("skips those that have left")
    func left() {
        let gone = enter()
        let there = enter()
        flights.remove(gone)
        gate.withdraw()
        #expect(next()?.token == there)
        #expect(gate.waiting == 0)
        #expect(next() == nil)
    }

    @Test("lets nobody go while its breaker is open, keeps three as probes and sends the others away")
    func away() {
        open()
        for _ in 0..<10 { enter() }
        #expect(next() == nil)
        #expect(gate.mustShed(areCrowded: false, at: now))
        let gone = gate.shed(keeping: gate.probes, shedsContinuations: false, in: flights)
        #expect(gone.count == 7)
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
        #expect(!gate.isAwayForLong(at: now))
        #expect(gate.shed(keeping: gate.probes, shedsContinuations: false, in: flights).count == 1)
        #expect(gate.waiting == 10)
        now += .seconds(31)
        gate.advance(to: now)
        #expect(gate.isAwayForLong(at: now))
        #expect(gate.shed(keeping: gate.probes, shedsContinuations: true, in: flights).count == 7)
        #expect(gate.waiting == 3)
        #expect(try #require(next()).pass.lane == .continuation)
    }

    @Test("is away for long as soon as it names a long pause")
    func namedPause() throws {
        enter()
        let (_, pass) = try #require(next())
        end(pass, .limited(wait: .seconds(900)))
        #expect(gate.isAwayForLong(at: now))
    }

    @Test("leaves its calls to due rows while submissions wait for room in retries")
    func delayed() {
        gate.delayed = 100
        #expect(result { gate.dueRoom(at: now) } == 20)
        gate.delayed = 0
        open()
        gate.delayed = 100
        now += .seconds(3600)
        #expect(result { gate.dueRoom(at: now) } == gate.probes)
        #expect(gate.breaker.phase == .halfOpen)
    }

    @Test("takes due rows as many as it may call, a quarter of them while others wait, of an open one none")
    func dueRoom() {
        #expect(result { gate.dueRoom(at: now) } == 20, "whatever the budget of retries is")
        for _ in 0..<8 { enter() }
        #expect(result { gate.dueRoom(at: now) } == 3)
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

    @Test("counts as away when gates are crowded and it has answered nothing for a second")
    func silent() throws {
        for _ in 0..<30 { enter() }
        while next() != nil {}
        #expect(!gate.mustShed(areCrowded: true, at: now))
        #expect(gate.nextMoment(areCrowded: true, after: now) == now + .seconds(1))
        #expect(gate.nextMoment(areCrowded: false, after: now) == nil)
        now += .seconds(1)
        #expect(gate.mustShed(areCrowded: true, at: now))
        #expect(!gate.mustShed(areCrowded: false, at: now))
    }

    @Test("is not silent when the first submission comes after a pause, even if others wait to be repeated")
    func pause() throws {
        gate.delayed = 5
        now += .seconds(60)
        enter()
        #expect(!gate.mustShed(areCrowded: true, at: now))
    }

    @Test("sends away what would wait for its rate limit for more than half a minute")
    func rateLimit() {
        gate.setRate(2)
        for _ in 0..<100 { enter() }
        var calls = 0
        while next() != nil { calls += 1 }
        #expect(calls == 2)
        #expect(gate.mustShed(areCrowded: false, at: now))
        let gone = gate.shed(keeping: gate.probes, shedsContinuations: false, in: flights)
        #expect(gone.count == 38)
        now += .milliseconds(600)
        #expect(next() != nil)
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

@Suite("The table of gates")
final class GateTableTests {
    private var table = GateTable(most: 100, mostCalls: 10)
    private var now = Instant.zero

    private func enter(_ index: Int) {
        let now = now
        table.update(index) { $0.enter(SubmissionToken(slot: 0, use: 1), .first, at: now) }
    }

    @Test("counts its gates and what they hold")
    func held() {
        let indices = (0..<4).map { table.index(of: .apple(Endpoint(.serverAPI, .production, key: "app\($0)"))) }
        enter(indices[0])
        enter(indices[1])
        enter(indices[3])
        #expect(table.active == [0, 1, 3])
        #expect(table.held == 3)
    }

    @Test("counts no calls of a fulfilment service: the outbox has an allowance of its own")
    func services() {
        enter(table.index(of: .service("app")))
        #expect(table.active == [0])
        #expect(table.held == 0)
    }

    @Test("keeps nobody waiting for a silent gate beside the calls that find out whether it is back")
    func shed() throws {
        var flights = Flights(vacant: .vacant, capacity: 16)
        let index = table.index(of: .apple(Fixture.verifyReceipt))
        for _ in 0..<8 {
            var flight = Flight(.nobody)
            flight.state = .waiting
            let token = flights.insert(flight)
            let now = now
            table.update(index) { $0.enter(token, .first, at: now) }
        }
        for _ in 0..<2 { #expect(table.next(at: index, now, in: flights) != nil) }
        #expect(table.shed(at: index, areCrowded: false, at: now, in: flights).count == 5)
        #expect(table.held == 3)
        #expect(table.next(at: index, now, in: flights) != nil)
        #expect(table.shed(at: index, areCrowded: false, at: now, in: flights).isEmpty)
        #expect(table.held == 3)
    }

    @Test("sends continuations away as well where gates are crowded")
    func shedContinuations() throws {
        var flights = Flights(vacant: .vacant, capacity: 16)
        let index = table.index(of: .apple(Fixture.verifyReceipt))
        for _ in 0..<8 {
            var flight = Flight(.nobody)
            flight.state = .waiting
            let token = flights.insert(flight)
            let now = now
            table.update(index) { $0.enter(token, .continuation, at: now) }
        }
        #expect(table.shed(at: index, areCrowded: false, at: now, in: flights).isEmpty)
        #expect(table.shed(at: index, areCrowded: true, at: now, in: flights).count == 5)
    }

    @Test("keeps probes for a gate whose breaker is open, whatever earlier calls hang")
    func probesBesideCalls() throws {
        var flights = Flights(vacant: .vacant, capacity: 128)
        let index = table.index(of: .service("away"))
        func enter() {
            var flight = Flight(.nobody)
            flight.state = .waiting
            let token = flights.insert(flight)
            let now = now
            table.update(index) { $0.enter(token, .first, at: now) }
        }
        for _ in 0..<9 { enter() }
        for _ in 0..<4 { #expect(table.next(at: index, now, in: flights) != nil) }
        while table[index].breaker.phase == .closed {
            enter()
            guard let (_, pass) = table.next(at: index, now, in: flights) else { break }
            let now = now
            table.update(index) { $0.ended(pass, .failed, isRetry: false, took: .zero, at: now, unit: 0.5) }
        }
        #expect(table[index].breaker.phase == .open)
        #expect(table[index].inFlight == 4)
        #expect(table[index].waiting == 5)
        #expect(table.shed(at: index, areCrowded: false, at: now, in: flights).count == 2)
        #expect(table[index].waiting == 3)
    }

    @Test("knows each key once, also one that no configuration names")
    func keys() {
        let index = table.index(of: .apple(Fixture.serverAPI))
        table.apply(Fixture.apps, workers: 1)
        #expect(result { table.index(of: .apple(Fixture.serverAPI)) } == index)
        #expect(table.count == 4)
    }

    @Test("looks only at gates that have work")
    func retired() {
        let index = table.index(of: .apple(Fixture.serverAPI))
        enter(index)
        table.update(index) { $0.withdraw() }
        table.retireIdle()
        #expect(table.active.isEmpty)
        enter(index)
        #expect(table.active == [index])
    }
}
