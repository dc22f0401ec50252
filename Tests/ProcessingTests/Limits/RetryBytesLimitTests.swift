import Contract
import Ledger
import Testing

@testable import Processing

@Suite("The bound of what waits in retries")
final class RetryBytesLimitTests {
    private var limit = RetryBytesLimit(limit: 16_000)
    private var samples: Int64 = 0

    private func sample(_ apps: (BundleID, Int64)..., workers: Int = 8, isShared: Bool = false) -> Bool {
        if !isShared { samples += 1 }
        return limit.sampled(
            LedgerMeasure(
                retries: apps.map { LedgerMeasure.App(bundleID: $0.0, rows: 1, bytes: $0.1) }, waiting: [],
                outboxRows: 0, outboxAge: 0, workers: workers, takenAt: Timestamp(milliseconds: samples)))
    }

    @Test("takes nothing before the first sample")
    func unknown() {
        #expect(!result { limit.take(1) })
    }

    @Test("gives each worker a share of half of what is left", arguments: [1, 2, 20])
    func workers(_ count: Int) {
        _ = sample(workers: count)
        var taken = 0
        while result({ limit.take(1) }) { taken += 1 }
        #expect(taken == 8_000 / count)
    }

    @Test("gives nothing for a sample that was given before: what was taken since is not in it")
    func shared() {
        _ = sample()
        while result({ limit.take(100) }) {}
        _ = sample(isShared: true)
        #expect(limit.isExhausted)
        #expect(!result { limit.take(100) })
        _ = sample()
        #expect(result { limit.take(100) })
    }

    @Test("takes its share of half of what is left between two samples, and asks for the next one then")
    func share() {
        _ = sample()
        for _ in 0..<10 { #expect(result { limit.take(100) }) }
        #expect(!result { limit.take(100) })
        #expect(limit.isExhausted)
        _ = sample(("a", 1000))
        #expect(!limit.isExhausted)
        #expect(result { limit.take(100) })
    }

    @Test("gives one app all of it: the others could not be read without it")
    func oneApp() {
        _ = sample(("a", 8000))
        #expect(result { limit.take(100) })
        _ = sample(("a", 15_999))
        #expect(!limit.isFull)
        #expect(result { limit.take(100) }, "the last byte takes a whole row")
        #expect(limit.isFull)
    }

    @Test("is full at the bound, and says once that half of it is used")
    func full() {
        #expect(!sample(("a", 100)))
        #expect(sample(("a", 5000), ("b", 4000)))
        #expect(!sample(("a", 5000), ("b", 4000)))
        #expect(!limit.isFull)
        _ = sample(("a", 8000), ("b", 8000))
        #expect(limit.isFull)
        #expect(!result { limit.take(1) })
    }
}
