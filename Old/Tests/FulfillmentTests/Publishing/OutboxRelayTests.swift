import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Relaying the outbox")
struct OutboxRelayTests {
    private func entry(_ sequence: Int64, _ key: String = "u") -> OutboxEntry {
        let event = Event(
            id: EventID("e\(sequence)"), kind: .granted, key: Array(key.utf8), headers: [], value: [1, 2, 3])
        return OutboxEntry(sequence: sequence, event: event)
    }

    private func entries(_ sequences: ClosedRange<Int64>) -> [OutboxEntry] {
        sequences.map { entry($0, "u\($0)") }
    }

    /// Where a new relay stands that has read that there is nothing.
    private func relay(at position: Int64 = 0) -> OutboxRelay {
        var relay = OutboxRelay(RelayTurn(publishedThrough: position, withheld: []))
        relay.read([])
        return relay
    }

    private func all(_ entries: [OutboxEntry], _ acknowledged: Bool = true) -> [Bool] {
        entries.map { _ in acknowledged }
    }

    /// Has the broker take what is offered, which must be these.
    /// - Returns: what comes next.
    private func publish(_ sequences: ClosedRange<Int64>, by relay: inout OutboxRelay) -> OutboxRelay.Step {
        let expected = entries(sequences)
        let offer = relay.next()
        #expect(offer == .offer(expected))
        relay.offered(expected, acknowledged: all(expected))
        return relay.next()
    }

    @Test("reads what was left, then rests")
    func start() {
        var relay = OutboxRelay(RelayTurn(publishedThrough: 7, withheld: []))
        let first = relay.next()
        #expect(first == .read(after: 7))
        let left = entries(8...9)
        relay.read(left)
        let second = relay.next()
        #expect(second == .offer(left))
        relay.offered(left, acknowledged: all(left))
        let third = relay.next()
        #expect(third == .read(after: 9))
        relay.read([])
        let fourth = relay.next()
        #expect(fourth == .rest)
        let note = relay.takeNote()
        #expect(note == RelayNote(through: 9))
        #expect(relay.untold == 0)
    }

    @Test("publishes what is handed over if it goes on where the position is, without reading it")
    func handedOver() {
        var relay = relay(at: 3)
        relay.added(entries(4...5))
        relay.added(entries(6...6))
        let step = relay.next()
        #expect(step == .offer(entries(4...6)))
        relay.offered(entries(4...6), acknowledged: [true, true, true])
        let rest = relay.next()
        #expect(rest == .rest)
        #expect(relay.untold == 3)
    }

    @Test("reads the ledger where another worker has added something between two of ours")
    func gapInside() {
        var relay = relay()
        relay.read([])
        relay.added(entries(1...2) + entries(5...6))
        let step = relay.next()
        #expect(step == .read(after: 0))
    }

    @Test("reads the ledger where something is missing before what is handed over")
    func gap() {
        var relay = relay(at: 3)
        relay.added(entries(6...6))
        let step = relay.next()
        #expect(step == .read(after: 3))
        relay.read(entries(4...7))
        // Comes late: it was read meanwhile.
        relay.added(entries(7...8))
        let next = relay.next()
        #expect(next == .offer(entries(4...8)))
    }

    @Test("offers the same again after a while when the broker takes nothing")
    func brokerAway() {
        var relay = relay()
        relay.added(entries(1...3))
        for failures in 1...3 {
            let offer = relay.next()
            #expect(offer == .offer(entries(1...3)))
            relay.offered(entries(1...3), acknowledged: [false, false, false])
            let pause = relay.next()
            #expect(pause == .pause(failures: failures))
        }
        #expect(relay.withheldCount == 0)
        #expect(relay.untold == 0)
    }

    @Test("withholds a refused event and later ones of its key, and lets the others pass")
    func refused() {
        var relay = relay()
        let three = [entry(1, "a"), entry(2, "b"), entry(3, "c")]
        relay.added(three)
        _ = relay.next()
        relay.offered(three, acknowledged: [true, false, true])
        relay.added([entry(4, "b"), entry(5, "d")])
        let step = relay.next()
        #expect(step == .offer([entry(5, "d")]))
        relay.offered([entry(5, "d")], acknowledged: [true])
        let note = relay.takeNote()
        #expect(note == RelayNote(through: 5, withhold: [2, 4]))

        relay.sweep()
        let again = relay.next()
        #expect(again == .offer([entry(2, "b")]), "the first of its key alone")
        relay.offered([entry(2, "b")], acknowledged: [true])
        let last = relay.next()
        #expect(last == .offer([entry(4, "b")]))
        relay.offered([entry(4, "b")], acknowledged: [true])
        let released = relay.takeNote()
        #expect(released == RelayNote(through: 5, release: [2, 4]))
    }

    @Test("never withholds more than it may, however much of a batch is refused")
    func mostWithheld() {
        var relay = relay()
        for first in stride(from: Int64(1), to: 1_000_000, by: 400) {
            relay.added(entries(first...first + 399))
            guard case .offer(let offered) = relay.next() else { break }
            // One is taken, so the broker is not away; it refuses the others.
            relay.offered(offered, acknowledged: offered.map { $0.sequence == offered[0].sequence })
            guard case .offer(let more) = relay.next() else { continue }
            relay.offered(more, acknowledged: more.map { $0.sequence == more[0].sequence })
        }
        #expect(relay.withheldCount > RelayTurn.maxWithheld / 2)
        #expect(relay.withheldCount <= RelayTurn.maxWithheld)
    }

    @Test("tells one refused event from a broker that is away by offering one at a time")
    func singles() {
        var relay = relay()
        relay.added(entries(1...2))
        for _ in 0..<OutboxRelay.failuresBeforeSingles {
            _ = relay.next()
            relay.offered(entries(1...2), acknowledged: [false, false])
            _ = relay.next()
        }
        let single = relay.next()
        #expect(single == .offer(entries(1...1)))
        relay.offered(entries(1...1), acknowledged: [false])
        _ = relay.next()
        _ = relay.next()
        relay.offered(entries(1...1), acknowledged: [false])
        #expect(relay.withheldCount == 1)
        _ = relay.next()
        let next = relay.next()
        #expect(next == .offer(entries(2...2)))
        relay.offered(entries(2...2), acknowledged: [true])
        let note = relay.takeNote()
        #expect(note == RelayNote(through: 2, withhold: [1]))
    }

    @Test("does not read again what settlement hands over after a read")
    func endOfReading() {
        var relay = OutboxRelay(RelayTurn(publishedThrough: 0, withheld: []))
        let read = entries(1...2)
        relay.read(read)
        relay.added(entries(2...4))
        let rest = publish(1...4, by: &relay)
        #expect(rest == .rest)
        // Another worker's may still lie behind them.
        relay.sweep()
        relay.added(entries(5...5))
        let sweep = publish(5...5, by: &relay)
        #expect(sweep == .read(after: 5))
    }

    @Test(
        "reads on while something was announced beyond what is handed over, in whatever order that was",
        arguments: [[6], [6, 7, 4]] as [[Int64]])
    func announced(sequences: [Int64]) {
        var relay = OutboxRelay(RelayTurn(publishedThrough: 0, withheld: []))
        relay.added(sequences.map { entry($0, "u\($0)") })
        relay.read(entries(1...2))
        relay.added(entries(3...4))
        let step = publish(1...4, by: &relay)
        #expect(step == .read(after: 4))
    }

    @Test("reads to the end once something was added that is not handed over, whatever is handed over after it")
    func addedWithoutHandover() {
        var relay = OutboxRelay(RelayTurn(publishedThrough: 0, withheld: []))
        // Stands for 6 and 7, which a commit after them overtook on its way here.
        relay.added(nil)
        relay.read(entries(1...3))
        relay.added(entries(4...5))
        let more = publish(1...5, by: &relay)
        #expect(more == .read(after: 5))
        relay.read(entries(6...7))
        let toTheEnd = publish(6...7, by: &relay)
        #expect(toTheEnd == .read(after: 7))
        relay.read([])
        let rest = relay.next()
        #expect(rest == .rest)
    }

    @Test("reads the ledger to its end before it rests for good, whatever was handed over, and in whatever order")
    func finish() {
        var relay = OutboxRelay(RelayTurn(publishedThrough: 0, withheld: []))
        relay.added(nil)
        relay.read(entries(1...3))
        // Committed before what came as nil, and handed over after it.
        relay.added(entries(2...4))
        _ = relay.next()
        relay.offered(entries(1...4), acknowledged: all(entries(1...4)))
        relay.finish()
        let first = relay.next()
        #expect(first == .read(after: 4))
        relay.read(entries(5...6))
        relay.finish()
        let second = publish(5...6, by: &relay)
        #expect(second == .read(after: 6))
        relay.read([])
        relay.finish()
        let end = relay.next()
        #expect(end == .rest)
    }

    @Test("offers what is withheld ever more rarely while that helps nothing")
    func withheldBackoff() {
        var relay = OutboxRelay(RelayTurn(publishedThrough: 1, withheld: entries(1...1)))
        relay.read([])
        var offers: [Int] = []
        for sweep in 0..<600 {
            if relay.next() == .offer(entries(1...1)) {
                offers.append(sweep)
                relay.offered(entries(1...1), acknowledged: [false])
            }
            relay.read([])
            relay.sweep()
        }
        #expect(Array(offers.prefix(5)) == [0, 2, 6, 14, 30])
        #expect(offers.count == 10)
    }

    /// Whatever the broker does, and however late and in whatever order settlement hands over: what is noted as published and
    /// not withheld was acknowledged, nothing is lost, and first acknowledgements follow the ledger's order for each key.
    ///
    /// With every second seed the broker refuses nothing and nobody sweeps: then what is handed over has to be enough.
    @Test("keeps its promises whatever the broker does", arguments: 1...20 as ClosedRange<UInt64>)
    func promises(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let isSwept = seed.isMultiple(of: 2)
        var log: [OutboxEntry] = []
        var relay = OutboxRelay(RelayTurn(publishedThrough: 0, withheld: []))
        var acknowledged: [Int64] = []
        var through: Int64 = 0
        var withheld: Set<Int64> = []
        var handovers: [[OutboxEntry]?] = []
        func refuses(_ generator: inout SeededGenerator) -> Bool {
            isSwept && Int.random(in: 0..<20, using: &generator) == 0
        }
        for round in 0..<3000 {
            // Without sweeps a calm phase in between has to be enough, too; what is withheld needs more of them.
            let isCalm = isSwept ? round > 2000 : round % 100 >= 40
            if !isCalm, Bool.random(using: &random) {
                let first = Int64(log.count + 1)
                let new = (first..<first + Int64.random(in: 1...4, using: &random)).map {
                    entry($0, "k\(UInt8.random(in: 0..<8, using: &random))")
                }
                log += new
                handovers.append(Bool.random(using: &random) ? new : nil)
            }
            while isCalm || Bool.random(using: &random), let place = handovers.indices.randomElement(using: &random) {
                let handover = handovers.remove(at: place)
                // Two that wait are taken as one.
                if Bool.random(using: &random), let handover, let another = handovers.last ?? nil {
                    handovers.removeLast()
                    relay.added(handover + another)
                } else {
                    relay.added(handover)
                }
            }
            if isSwept, Int.random(in: 0..<4, using: &random) == 0 { relay.sweep() }
            switch relay.next() {
            case .offer(let entries):
                // Within one batch the broker refuses from some record on, as an idempotent producer's partition does.
                let isAway = !isCalm && Int.random(in: 0..<10, using: &random) == 0
                var refusedKeys: Set<[UInt8]> = []
                let answers = entries.map { entry in
                    let key = entry.event.key ?? []
                    if isAway || refusedKeys.contains(key) || (!isCalm && refuses(&random)) {
                        refusedKeys.insert(key)
                        return false
                    }
                    return true
                }
                for (entry, isTaken) in zip(entries, answers) where isTaken { acknowledged.append(entry.sequence) }
                relay.offered(entries, acknowledged: answers)
            case .read(let position): relay.read(Array(log[Int(position)...].prefix(5)))
            case .rest, .pause: break
            }
            if !isSwept, round % 100 == 99 {
                #expect(Set(acknowledged).count == log.count, "what is handed over is enough")
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let note = relay.takeNote()
                #expect(note.through >= through)
                through = note.through
                withheld.formUnion(note.withhold)
                withheld.subtract(note.release)
                let taken = Set(acknowledged)
                for sequence in 1..<(through + 1) where !withheld.contains(sequence) {
                    #expect(taken.contains(sequence))
                }
            }
        }
        #expect(Set(acknowledged).count == log.count, "everything came through in the end")
        for key in Set(log.compactMap(\.event.key)) {
            let sequences = log.filter { $0.event.key == key }.map(\.sequence)
            var seen: Set<Int64> = []
            let firsts = acknowledged.filter { sequences.contains($0) && seen.insert($0).inserted }
            #expect(firsts == sequences)
        }
    }
}
