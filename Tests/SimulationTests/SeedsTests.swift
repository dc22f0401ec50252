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
            // Rows of the outbox waited for ever where there was room for few.
            3,
            // A sandbox's grant answered who meant production's transaction of the same number, and the other way.
            10, 91,
            // The group's offset stayed behind the ledger's for ever.
            16,
            // A ledger that was set back to before its first offset was read from the group's.
            32,
            // A note under an old ownership reached a ledger that had been set back.
            313, 624,
            // Reading never began again after a write had failed whose partition was taken away.
            351, 431, 698,
            // What the simulation itself did wrong: a commit that overtook another, a ledger that nobody may use.
            2009, 2758,
        ] as [UInt64])
    func once(seed: UInt64) {
        #expect(Simulation.run(seed: seed) == [])
    }
}
