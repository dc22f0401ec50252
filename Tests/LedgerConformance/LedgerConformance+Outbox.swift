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
            let entries = try await ledger.unpublished(after: 0, limit: 10)
            try expect(
                entries.map(\.event.id),
                [
                    Samples.event(purchases[0]), Samples.event(purchases[1]), Samples.failedEvent("s2"),
                    Samples.event(purchases[2]),
                ], "order")
            try expect(
                try await ledger.unpublished(after: entries[1].sequence, limit: 1).map(\.sequence),
                [entries[2].sequence], "page")
        },
        ConformanceRule("a delivered event waits no more, until a copy is asked for") { ledger in
            let subject = Subject(ledger)
            let settlement = Samples.grant("s1", Samples.purchase("1"))
            try await subject.settle(settlement)
            try await ledger.markPublished(try await ledger.unpublished(after: 0, limit: 10), now: Samples.noon)
            try expect(try await ledger.unpublished(after: 0, limit: 10), [], "delivered")
            try expect(try await ledger.events(after: 0, limit: 10).first?.publishedAt, Samples.noon, "time")
            try await subject.settle(settlement)
            try expect(try await ledger.unpublished(after: 0, limit: 10).map(\.copiesRequested), [2], "copy")
        },
        ConformanceRule("a delivery covers the copies asked for when it was read, and none asked for since") { ledger in
            let subject = Subject(ledger)
            let settlement = Samples.grant("s1", Samples.purchase("1"))
            try await subject.settle(settlement, settlement)
            let read = try await ledger.unpublished(after: 0, limit: 10)
            try expect(read.map(\.copiesRequested), [2], "read")
            try await subject.settle(settlement)
            try await ledger.markPublished(read, now: Samples.noon)
            try expect(try await ledger.unpublished(after: 0, limit: 10).map(\.copiesRequested), [3], "still waits")
            try await ledger.markPublished(try await ledger.unpublished(after: 0, limit: 10), now: Samples.noon)
            try await ledger.markPublished(read, now: Samples.noon)
            try expect(try await ledger.unpublished(after: 0, limit: 10), [], "a late note takes nothing back")
        },
        ConformanceRule("an unreadable record is quarantined once, to the byte") { ledger in
            let quarantine = Samples.quarantine(offset: 7)
            let other = Samples.quarantine(offset: 8)
            _ = try await ledger.settle([], quarantines: [quarantine, quarantine], now: Samples.noon)
            _ = try await ledger.settle([], quarantines: [quarantine, other], now: Samples.noon)
            let entries = try await ledger.unpublished(after: 0, limit: 10)
            try expect(entries.map(\.event), [quarantine.event, other.event], "events")
            try expect(entries.map(\.copiesRequested), [1, 1], "copies")
            try expect(try await ledger.counts().quarantined, 2, "count")
        },
        ConformanceRule("events keep every byte of key, headers and value, absent and empty told apart") { ledger in
            let origin = Origin(topic: "t", partition: 0, offset: 0)
            let events = [
                Event(id: "a", kind: .quarantined, key: nil, headers: [], value: nil),
                Event(
                    id: "b", kind: .quarantined, key: [], headers: [EventHeader(name: "", value: [])], value: []),
                Event(
                    id: "c", kind: .quarantined, key: Array(0...255),
                    headers: [
                        EventHeader(name: "x", value: [0]), EventHeader(name: "x", value: nil),
                        EventHeader("\u{e9}\u{0}", "y"),
                    ], value: Array(repeating: 0, count: 70_000)),
            ]
            _ = try await ledger.settle(
                [], quarantines: events.map { Quarantine(origin: origin, reason: "r", event: $0) }, now: Samples.noon)
            try expect(try await ledger.events(["c", "a", "b", "d"]).map(\.event), events, "events")
        },
    ]
}
