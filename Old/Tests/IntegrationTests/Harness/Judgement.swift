import Ledger
import Purchases
import SystemTesting
import Testing

/// What must hold after every run, whatever happened on the way.
enum Judgement {
    /// Compares topics and ledger with what was submitted. Everything is expected to have settled.
    static func expectRight(
        _ played: [Played], _ answers: Answered, _ stage: Stage, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(answers.missing(played).compactMap(\.submissionID) == [], sourceLocation: sourceLocation)
        #expect(answers.unreadable == 0, sourceLocation: sourceLocation)
        let twice = answers.grants.filter { $0.value.count != 1 }
        #expect(twice.isEmpty, "granted under more than one event id", sourceLocation: sourceLocation)
        let different = answers.values.filter { $0.value.count != 1 }.keys
        #expect(different.isEmpty, "copies differ", sourceLocation: sourceLocation)

        let wanted = Set(played.flatMap { $0.expectation.transactions })
        #expect(Set(answers.grants.keys) == wanted, "nothing else is granted", sourceLocation: sourceLocation)

        let submissions = Set(played.compactMap(\.submissionID))
        let unreadable = played.count { $0.submissionID == nil }
        let (counts, events) = try await stage.withLedger { ledger in
            // Records that were read again after the trouble are answered again, so the outbox may fill once more.
            let counts = try await eventually("the outbox is empty", within: .seconds(60)) {
                let counts = try await ledger.counts()
                return counts.unpublished == 0 ? counts : nil
            }
            return (counts, try await allEvents(ledger))
        }
        #expect(counts.grants == wanted.count, "one grant per purchase", sourceLocation: sourceLocation)
        #expect(counts.submissions.values.reduce(0, +) == submissions.count, sourceLocation: sourceLocation)
        #expect(counts.quarantined == unreadable, sourceLocation: sourceLocation)
        let silent = events.filter { $0.kind != .quarantined && answers.values[$0.id] == nil }
        #expect(silent.map(\.id) == [], "in the ledger, not on the topics", sourceLocation: sourceLocation)
        let altered = events.filter { event in
            event.kind != .quarantined && event.value.map { answers.values[event.id] != [$0] } ?? true
        }
        #expect(altered.map(\.id) == [], "topic and ledger differ", sourceLocation: sourceLocation)
        try await expectSound(stage, drained: true, sourceLocation: sourceLocation)
    }

    /// Has the audit look at ledger, topics and offsets.
    static func expectSound(
        _ stage: Stage, drained: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (exit, text) = try await stage.audit(drained: drained)
        #expect(exit == .code(0), "\(text)", sourceLocation: sourceLocation)
    }

    private static func allEvents(_ ledger: any LedgerReader) async throws -> [Event] {
        var events: [Event] = []
        var last: Int64 = 0
        while true {
            let page = try await ledger.events(after: last, limit: SQLiteLedger.maxPage)
            guard let end = page.last else { return events }
            events += page.map(\.event)
            last = end.sequence
        }
    }
}

extension Played.Expectation {
    /// What is to be granted.
    var transactions: [TransactionID] {
        if case .granted(let transactions) = self { transactions } else { [] }
    }

    /// How many records answer it, each time that it is submitted.
    var copies: Int { max(1, transactions.count) }
}
