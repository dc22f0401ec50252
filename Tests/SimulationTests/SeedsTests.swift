import Simulation
import Testing

@Suite("The promises of a fleet")
struct SeedsTests {
    @Test("are kept in many runs, each with faults of its own")
    func many() {
        for seed in UInt64(1)...25 {
            #expect(Simulation.run(seed: seed) == [], "grantor-simulate --seed \(seed)")
        }
    }

    @Test(
        "are kept in runs that once broke them",
        arguments: [
            // The judge was wrong about marks that reached the ledger after their workers had lost the partition.
            1_001_511, 1_006_774, 1_044_666,
            // It was wrong about a row without an event when its topic was made anew, and its record quarantined.
            1_051_687,
            // Submissions that waited for room in `retries` took the probes of an endpoint that was away. No due row
            // was asked about any more, so `retries` stayed full.
            3_988_443, 4_195_897,
            // A record was quarantined after its worker had written its grant and ended. Nobody was told of the grant.
            3_478_337, 5_225_305,
            // The script had two claims of one content and two truths.
            4_390_211,
            // A worker that had asked nobody for half an hour took its breaker for an outage, and let signatures
            // decide.
            550_000,
            // The judge was wrong about a failure that the same submission's other record had still to publish. It was
            // also wrong about an abandoned row whose submission was answered in another record.
            338_915, 364_245, 518_987,
            // It was wrong about an id that was used three times: one claim's answer was taken for another's.
            2_203_101,
            // It was wrong about a grant whose commit had waited: a word of waiting came between decision and commit.
            239_330,
            // It was wrong about a record that stood where one that ends workers had stood: its stub was still owed.
            3_091_671,
            // Submissions with more purchases than the bound waited for room in full `retries`, and no due row was taken.
            4_042_733,
            // Held submissions were tried before the apps file changed, and their rows were written after the look for
            // them.
            4_395_693,
        ] as [UInt64])
    func once(seed: UInt64) {
        #expect(Simulation.run(seed: seed) == [])
    }
}
