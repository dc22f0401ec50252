import Ledger
import Purchases

extension LedgerConformance {
    static let outboxRules: [ConformanceRule] = [
        ConformanceRule("events wait in the order in which they were written, from after a sequence on") { ledger in
            let subject = Subject(ledger)
            let purchases = ["1", "2", "3"].map { Samples.purchase($0) }
            try await subject.settle(
                Samples.grant("s1", purchases[0], purchases[1]), Samples.failure("s2"),
                Samples.grant("s3", purchases[2]))
            let entries = try await ledger.outbox(after: 0, limit: 10)
            try expect(
                entries.map(\.event.id),
                [
                    Samples.event(purchases[0]), Samples.event(purchases[1]), Samples.failedEvent("s2"),
                    Samples.event(purchases[2]),
                ], "order")
            try expect(entries.map(\.sequence), [1, 2, 3, 4], "sequences")
            try expect(try await ledger.outbox(after: 2, limit: 1).map(\.sequence), [3], "page")
        },
        ConformanceRule("settling tells what it added to the outbox, unless copies are among it") { ledger in
            let batch = [Samples.grant("s1", Samples.purchase("1")), Samples.failure("s2")]
            let quarantine = Samples.quarantine(offset: 1)
            let first = try await ledger.settle(batch, quarantines: [quarantine], now: Samples.noon)
            try expect(first.added, try await ledger.outbox(after: 0, limit: 10), "added")
            let again = try await ledger.settle(batch, quarantines: [quarantine], now: Samples.noon)
            try expect(again.added, nil, "copies")
            let nothing = try await ledger.settle([Samples.held("s3")], quarantines: [], now: Samples.noon)
            try expect(nothing.added, [], "nothing")
        },
        ConformanceRule("a copy is one more entry with the event's own bytes, and goes once it is published") {
            ledger in
            let subject = Subject(ledger)
            let settlement = Samples.grant("s1", Samples.purchase("1"))
            try await subject.settle(settlement)
            let event = try await ledger.outbox(after: 0, limit: 10)[0].event
            try await subject.publish(through: 1)
            try expect(try await ledger.events([event.id]).first?.publishedAt, Samples.noon, "time")
            try await subject.settle(settlement, settlement)
            let copies = [OutboxEntry(sequence: 2, event: event), OutboxEntry(sequence: 3, event: event)]
            try expect(try await ledger.outbox(after: 1, limit: 10), copies, "copies")
            try expect(try await ledger.counts().unpublished, 2, "waiting")
            try await subject.publish(through: 2)
            try expect(try await ledger.outbox(after: 0, limit: 10).map(\.sequence), [1, 3], "one is left")
            try await subject.publish(through: 3)
            try await subject.settle(settlement)
            try expect(try await ledger.outbox(after: 3, limit: 10).map(\.sequence), [4], "no sequence comes twice")
            try expect(try await ledger.events(after: 0, limit: 10).map(\.sequence), [1], "events are no copies")
        },
        ConformanceRule("one worker has the relay, until it leaves or is silent for too long") { ledger in
            func take(_ worker: WorkerID, _ seconds: Int) async throws -> Bool {
                let now = Samples.noon.advanced(by: .seconds(seconds))
                return try await ledger.takeRelay(worker, for: .seconds(1_000_000), now: now) != nil
            }
            try expect(try await take("first", 0), true, "free")
            try expect(try await take("second", 0), false, "taken")
            try expect(try await take("first", 0), true, "kept")
            try await ledger.leaveRelay("second")
            try expect(try await take("second", 0), false, "left by one that did not have it")
            try await ledger.leaveRelay("first")
            try expect(try await take("second", 0), true, "left")
            let note = RelayNote(through: 0)
            try expect(
                try await ledger.published(note, by: "first", for: .seconds(1_000_000), now: Samples.noon), false,
                "lost")
            try expect(
                try await ledger.published(note, by: "second", for: .seconds(1_000_000), now: Samples.noon), true,
                "ours")
        },
        ConformanceRule("a worker without the relay notes nothing") { ledger in
            try await Subject(ledger).settle(Samples.failure("s1"))
            _ = try await ledger.takeRelay("second", for: .seconds(1_000_000), now: Samples.noon)
            try expect(
                try await ledger.published(
                    RelayNote(through: 1), by: "first", for: .seconds(1_000_000), now: Samples.noon), false, "refused")
            try expect(try await ledger.counts().unpublished, 1, "still waits")
        },
        ConformanceRule("what is withheld waits for its release while the rest goes on") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.failure("s1"), Samples.failure("s2"), Samples.failure("s3"))
            let entries = try await ledger.outbox(after: 0, limit: 10)
            try await subject.publish(through: 2, withhold: [1])
            let turn = try await ledger.takeRelay("first", for: .seconds(1_000_000), now: Samples.noon)
            try expect(turn, RelayTurn(publishedThrough: 2, withheld: [entries[0]]), "turn")
            try expect(try await ledger.counts().unpublished, 2, "waiting")
            try expect(try await ledger.events(after: 0, limit: 2).map(\.publishedAt), [nil, Samples.noon], "times")
            try await subject.publish(through: 3, release: [1])
            try expect(try await ledger.counts().unpublished, 0, "all published")
        },
        ConformanceRule("whoever takes the relay is told of all that is withheld, however large or many") { ledger in
            let subject = Subject(ledger)
            let large = (1...10).map { offset in
                Samples.quarantine(offset: Int64(offset), value: Array(repeating: 7, count: 1 << 20))
            }
            _ = try await ledger.settle([], quarantines: large, now: Samples.noon)
            // More than a relay withholds now: relays of before could.
            let count = RelayTurn.maxWithheld + 20
            for first in stride(from: 0, to: count, by: 200) {
                _ = try await ledger.settle(
                    (first..<min(first + 200, count)).map { Samples.failure(SubmissionID("s\($0)")) }, quarantines: [],
                    now: Samples.noon)
            }
            let all = Array(1...Int64(large.count + count))
            try await subject.publish(through: Int64(all.count), withhold: all)
            let turn = try await ledger.takeRelay("first", for: .seconds(1_000_000), now: Samples.noon)
            try expect(turn?.withheld.count, all.count, "withheld")
            try expect(turn?.withheld.map(\.sequence) == all, true, "in order")
        },
        ConformanceRule("an unreadable record is quarantined once, to the byte") { ledger in
            let quarantine = Samples.quarantine(offset: 7)
            let other = Samples.quarantine(offset: 8)
            _ = try await ledger.settle([], quarantines: [quarantine, quarantine], now: Samples.noon)
            _ = try await ledger.settle([], quarantines: [quarantine, other], now: Samples.noon)
            let entries = try await ledger.outbox(after: 0, limit: 10)
            try expect(entries.map(\.event), [quarantine.event, other.event], "events")
            try expect(try await ledger.counts().quarantined, 2, "count")
        },
        ConformanceRule("events keep every byte of key, headers and value, absent and empty told apart") { ledger in
            let origin = Origin(topic: "t", partition: 0, offset: 0)
            let ids = (0..<4).map { EventID("00000000-0000-5000-8000-00000000000\($0)") }
            let events = [
                Event(id: ids[0], kind: .quarantined, key: nil, headers: [], value: nil),
                Event(
                    id: ids[1], kind: .quarantined, key: [], headers: [EventHeader(name: "", value: [])], value: []),
                Event(
                    id: ids[2], kind: .quarantined, key: Array(0...255),
                    headers: [
                        EventHeader(name: "x", value: [0]), EventHeader(name: "x", value: nil),
                        EventHeader("\u{e9}\u{0}", "y"),
                    ], value: Array(repeating: 0, count: 70_000)),
            ]
            _ = try await ledger.settle(
                [], quarantines: events.map { Quarantine(origin: origin, reason: "r", event: $0) }, now: Samples.noon)
            try expect(try await ledger.events([ids[2], ids[0], ids[1], ids[3], "x"]).map(\.event), events, "events")
        },
    ]
}
