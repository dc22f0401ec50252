import Ledger
import Purchases

extension LedgerConformance {
    static let snapshotRules: [ConformanceRule] = [
        ConformanceRule("a snapshot has every row once, in the order of the ledger") { ledger in
            for index in 1...5 {
                // Apart, because the rows of one batch have no order among each other.
                try await Subject(ledger).settle(
                    Samples.grant(SubmissionID("g\(index)"), Samples.purchase(TransactionID("\(index)"))))
                try await Subject(ledger).settle(Samples.failure(SubmissionID("f\(index)")))
                _ = try await ledger.settle(
                    [], quarantines: [Samples.quarantine(offset: Int64(index))], now: Samples.noon)
            }
            // Asks for copies, whose entries are no events of their own.
            try await Subject(ledger).settle(Samples.failure("f1"), Samples.failure("f2"))
            let pages = Pages(try await ledger.snapshot())
            try expect(
                try await pages.grants().map(\.granted.purchase.transactionID), ["1", "2", "3", "4", "5"], "grants")
            try expect(
                try await pages.submissions().map(\.claimant.submissionID),
                ["g1", "f1", "g2", "f2", "g3", "f3", "g4", "f4", "g5", "f5"], "submissions")
            try expect(try await pages.quarantines().map(\.origin.offset), [1, 2, 3, 4, 5], "quarantined")
            let events = try await pages.events()
            try expect(Set(events.map(\.event.id)).count, 15, "events")
            try expect(events.count, 15, "events, each once")
            try expect(events.map(\.sequence), events.map(\.sequence).sorted(), "order of events")
            let wanted = try await ledger.events(events.map(\.event.id)).map(\.event)
            try expect(events.map(\.event), wanted, "bytes of events")
            await pages.snapshot.close()
        },
        ConformanceRule("a snapshot's rows tell what a reader's tell") { ledger in
            try await Subject(ledger).settle(Samples.grant("s1", order: "o1", Samples.purchase("1")))
            _ = try await ledger.settle([], quarantines: [Samples.quarantine(offset: 7)], now: Samples.noon)
            let pages = Pages(try await ledger.snapshot())
            try expect(
                try await pages.grants(), try await ledger.grants(GrantFilter(), before: nil, limit: 10), "grants")
            try expect(
                try await pages.submissions(),
                try await ledger.submissions(SubmissionFilter(), before: nil, limit: 10), "submissions")
            let quarantine = Samples.quarantine(offset: 7)
            let row = try await pages.quarantines().first
            try expect(row?.eventID, quarantine.event.id, "event of the quarantined")
            try expect(row?.origin, quarantine.origin, "origin")
            try expect(row?.reason, quarantine.reason, "reason")
            try expect(row?.quarantinedAt, Samples.noon, "time")
            await pages.snapshot.close()
        },
        ConformanceRule("a snapshot does not see what is written after it") { ledger in
            try await Subject(ledger).settle(Samples.grant("s1", Samples.purchase("1")))
            let pages = Pages(try await ledger.snapshot())
            // The first page is read before the next row is written, the second after.
            try expect(try await pages.snapshot.grants(after: 0, limit: 1).count, 1, "the first page")
            try await Subject(ledger).settle(Samples.grant("s2", Samples.purchase("2")), Samples.failure("s3"))
            _ = try await ledger.settle([], quarantines: [Samples.quarantine(offset: 0)], now: Samples.noon)
            try expect(try await pages.grants().count, 1, "grants")
            try expect(try await pages.submissions().count, 1, "submissions")
            try expect(try await pages.quarantines().count, 0, "quarantined")
            try expect(try await pages.events().count, 1, "events")
            await pages.snapshot.close()
            let later = Pages(try await ledger.snapshot())
            try expect(try await later.events().count, 4, "events of a later snapshot")
            await later.snapshot.close()
        },
        ConformanceRule("the relay's state tells what counts as published") { ledger in
            try expect(try await ledger.relay(), RelayState(publishedThrough: 0), "of an empty ledger")
            try await Subject(ledger).settle(
                Samples.failure("s1"), Samples.failure("s2"), Samples.failure("s3"), Samples.failure("s4"))
            try await Subject(ledger).publish(through: 3, withhold: [2])
            let relay = try await ledger.relay()
            try expect(relay, RelayState(publishedThrough: 3, withheld: [2]), "relay")
            try expect((1...4).map { relay.isPublished($0) }, [true, false, true, false], "published")
            try await Subject(ledger).publish(through: 4, release: [2])
            try expect(try await ledger.relay(), RelayState(publishedThrough: 4), "after the release")
        },
    ]
}

/// Reads a snapshot in small pages.
private struct Pages {
    let snapshot: any LedgerSnapshot

    init(_ snapshot: any LedgerSnapshot) {
        self.snapshot = snapshot
    }

    func grants() async throws -> [GrantRow] {
        try await all(\.sequence) { try await snapshot.grants(after: $0, limit: 2) }
    }

    func submissions() async throws -> [SubmissionRow] {
        try await all(\.sequence) { try await snapshot.submissions(after: $0, limit: 2) }
    }

    func quarantines() async throws -> [QuarantineRow] {
        try await all(\.sequence) { try await snapshot.quarantines(after: $0, limit: 2) }
    }

    func events() async throws -> [OutboxEntry] {
        try await all(\.sequence) { try await snapshot.events(after: $0, limit: 2) }
    }

    private func all<Row>(
        _ sequence: (Row) -> Int64, _ page: (Int64) async throws -> [Row]
    ) async throws -> [Row] {
        var rows: [Row] = []
        while true {
            let more = try await page(rows.last.map(sequence) ?? 0)
            guard !more.isEmpty else { return rows }
            rows += more
        }
    }
}
