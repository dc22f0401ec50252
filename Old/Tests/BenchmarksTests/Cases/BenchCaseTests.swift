import Testing

@testable import grantor_bench

@Suite("Cases and what bounds them")
struct BenchCaseTests {
    private static func result(_ scenario: BenchCase, perSecond: [Double]) -> CaseResult {
        CaseResult(
            scenario: scenario,
            measurements: perSecond.map {
                Measurement(receiptsPerSecond: $0, cpuMicrosecondsPerReceipt: 100, peakMemoryMiB: 50)
            })
    }

    @Test("No more can be answered than are in flight while one is")
    func ceiling() {
        #expect(BenchCase(latencyMilliseconds: 250, inFlight: 1000).ceiling == 4000)
        #expect(BenchCase(latencyMilliseconds: 1000, inFlight: 4000).ceiling == 4000)
        #expect(BenchCase(latencyMilliseconds: 0).ceiling == nil)
        #expect(BenchCase(evidence: .signedTransaction, latencyMilliseconds: 250).ceiling == nil)
    }

    @Test("The share of the ceiling is the median's")
    func share() throws {
        let result = Self.result(BenchCase(latencyMilliseconds: 250), perSecond: [3000, 3900, 4000])
        #expect(try abs(#require(result.shareOfCeiling) - 0.975) < 1e-9)
        #expect(Self.result(BenchCase(), perSecond: [3000]).shareOfCeiling == nil)
    }

    @Test("The ratio is to libcurl where there are calls, else to a bare verification")
    func ratio() {
        var measurement = Measurement(receiptsPerSecond: 1000, cpuMicrosecondsPerReceipt: 90, peakMemoryMiB: 50)
        #expect(measurement.ratio.isNaN)
        measurement.rawVerificationMicroseconds = 45
        #expect(measurement.ratio == 2)
        measurement.bareLoop = BareLoopCost(microseconds: 60, callsPerSecond: 1)
        #expect(measurement.ratio == 1.5)
        #expect(abs(measurement.cores - 0.09) < 1e-9)
    }

    @Test("Fewer partitions hold fewer records ahead, and many are bounded all the same")
    func ahead() {
        #expect(BenchCase(evidence: .signedTransaction, partitions: 64).maxAhead == 8000)
        #expect((1000..<3000).contains(BenchCase(evidence: .signedTransaction, partitions: 1).maxAhead))
        #expect(BenchCase(receiptBytes: 8000, partitions: 1).maxAhead * 8000 < 5 << 20)
    }
}
