import Ledger
import LedgerConformance
import Purchases
import Testing

/// All that workers and people do, in random order and colliding, against a model that knows nothing of the ledger's code.
@Suite struct LedgerPropertyTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]

    @Test("both ledgers do what the naive one does, and hold the same in the end", arguments: seeds)
    func both(seed: UInt64) async throws {
        let sqlite = try await sqlite(seed: seed)
        #expect(try await postgres(seed: seed) == sqlite)
        #expect(Set(sqlite.submissions.map(\.outcome)) == Set(RecordedOutcome.allCases), "all outcomes were met")
        #expect(sqlite.deliveries.contains { !$0.isOpen }, "deliveries were done")
    }

    private func sqlite(seed: UInt64) async throws -> LedgerContent {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let play = try await play(ledger, seed: seed)
        try await ledger.close()
        let reopened = try await place.open(migrate: false)
        #expect(try await LedgerPlay(reopened, seed: seed).content() == play)
        try await reopened.close()
        return play
    }

    private func postgres(seed: UInt64) async throws -> LedgerContent {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        let play = try await play(ledger, seed: seed)
        await ledger.close()
        return play
    }

    private func play(
        _ ledger: ConformanceRule.AnyLedger, seed: UInt64, steps: Int = 200
    ) async throws -> LedgerContent {
        var play = LedgerPlay(ledger, seed: seed)
        for step in 1...steps {
            try await play.step()
            try await play.check()
            if step % 50 == 0 { try await play.checkRows() }
        }
        return try await play.content()
    }
}
