import Simulation
import Testing

@Suite("The promises of a fleet")
struct SeedsTests {
    @Test("are kept in many runs, each with faults of its own")
    func many() {
        for seed in UInt64(1)...25 {
            #expect(Simulation.run(seed: seed) == [], "grantor-simulate trace \(seed)")
        }
    }

    @Test(
        "are kept in runs that once broke them",
        arguments: [
            // A record that ends workers was never found, or other records were blamed for it. They were read one by
            // one while it was read behind them or in another partition.
            372, 601, 1127, 1388, 1669,
            // Signed evidence waited behind an endpoint of Apple's that had fallen silent.
            70, 95, 194, 205,
            // An owner whose entry for the outbox was refused went on, and left the record out for ever.
            19926,
            // The simulation itself was wrong about emptied ledgers, topics made anew, and repeats.
            38, 122, 521, 781, 855, 1184, 1372, 1482, 1619, 1746, 1799, 1934, 2996,
        ] as [UInt64])
    func once(seed: UInt64) {
        #expect(Simulation.run(seed: seed) == [])
    }
}
