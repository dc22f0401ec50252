import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("The table of gates")
final class GateTableTests {
    private var table = GateTable(most: 100, mostCalls: 10)
    private var now = Instant.zero

    private func enter(_ index: Int) {
        let now = now
        table.update(index) { $0.enter(SubmissionToken(slot: 0, use: 1), .first, isRow: false, at: now) }
    }

    /// Has new submissions wait at a gate.
    private func wait(
        _ count: Int = 1, at index: Int, _ lane: EndpointGate.Lane = .first, in flights: inout Flights
    ) {
        for _ in 0..<count {
            var flight = Flight(.nobody)
            flight.state = .waiting
            let (token, now) = (flights.insert(flight), now)
            table.update(index) { $0.enter(token, lane, isRow: false, at: now) }
        }
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
        wait(8, at: index, in: &flights)
        for _ in 0..<2 { #expect(table.next(at: index, now, in: flights) != nil) }
        #expect(table.shed(at: index, crowding: .little, at: now, in: flights) == nil)
        now += EndpointGate.crowdedWait
        #expect(table.shed(at: index, crowding: .half, at: now, in: flights)?.gone.count == 5)
        #expect(table.held == 3)
        #expect(table.next(at: index, now, in: flights) != nil)
        #expect(table.shed(at: index, crowding: .half, at: now, in: flights) == nil)
        #expect(table.held == 3)
    }

    @Test("sends continuations away as well where gates are crowded")
    func shedContinuations() throws {
        var flights = Flights(vacant: .vacant, capacity: 16)
        let index = table.index(of: .apple(Fixture.verifyReceipt))
        wait(8, at: index, .continuation, in: &flights)
        now += EndpointGate.crowdedWait
        #expect(table.shed(at: index, crowding: .little, at: now, in: flights) == nil)
        #expect(table.shed(at: index, crowding: .half, at: now, in: flights)?.gone.count == 5)
    }

    @Test("keeps probes for a gate whose breaker is open, whatever earlier calls hang")
    func probesBesideCalls() throws {
        var flights = Flights(vacant: .vacant, capacity: 128)
        let index = table.index(of: .service("away"))
        wait(9, at: index, in: &flights)
        for _ in 0..<4 { #expect(table.next(at: index, now, in: flights) != nil) }
        while table[index].breaker.phase == .closed {
            wait(at: index, in: &flights)
            guard let (_, pass) = table.next(at: index, now, in: flights) else { break }
            let now = now
            table.update(index) { $0.ended(pass, .failed, isRetry: false, took: .zero, at: now, unit: 0.5) }
        }
        #expect(table[index].breaker.phase == .open)
        #expect(table[index].inFlight == 4)
        #expect(table[index].waiting == 5)
        #expect(table.shed(at: index, crowding: .little, at: now, in: flights)?.gone.count == 2)
        #expect(table[index].waiting == 3)
    }

    @Test("asks for probes once after each pause, whatever calls of before it hang")
    func needsProbes() throws {
        var flights = Flights(vacant: .vacant, capacity: 128)
        let key = GateKey.apple(Fixture.verifyReceipt)
        let index = table.index(of: key)
        func begin() throws -> EndpointGate.Pass {
            wait(at: index, in: &flights)
            let next = table.next(at: index, now, in: flights)
            return try #require(next?.pass)
        }
        _ = try begin()
        while table[index].breaker.phase == .closed {
            let (pass, now) = (try begin(), now)
            table.update(index) { $0.ended(pass, .failed, isRetry: false, took: .zero, at: now, unit: 0.5) }
        }
        var changes = [table.noticeTrouble(at: index, now, wall: Timestamp(milliseconds: 0))]
        now += .seconds(2)
        let later = now
        table.update(index) { $0.advance(to: later) }
        #expect(table[index].inFlight == 1)
        for _ in 0..<2 { changes.append(table.noticeTrouble(at: index, now, wall: Timestamp(milliseconds: 0))) }
        guard case .began? = changes[0], case .needsProbes(key)? = changes[1], changes[2] == nil else {
            Issue.record("\(changes)")
            return
        }
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
        table.update(index) { $0.withdraw(isRow: false) }
        table.retireIdle()
        #expect(table.active.isEmpty)
        enter(index)
        #expect(table.active == [index])
    }
}
