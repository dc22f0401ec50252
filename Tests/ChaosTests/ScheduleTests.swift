import Testing

@testable import grantor_chaos

@Suite("The schedule of faults")
struct ScheduleTests {
    private func options(
        seed: UInt64 = 7, seconds: Int = 1200, brokers: Int = 3, hasSmallDisks: Bool = true
    ) -> Schedule.Options {
        Schedule.Options(
            seed: seed, seconds: seconds, workers: 4, brokers: brokers, hasSmallDisks: hasSmallDisks)
    }

    @Test("A seed always gives the same schedule, and another seed another one")
    func seeds() {
        #expect(Schedule(options()) == Schedule(options()))
        #expect(Schedule(options()) != Schedule(options(seed: 8)))
    }

    @Test("A longer run begins as a shorter one")
    func lengths() {
        let (short, long) = (Schedule(options(seconds: 60)), Schedule(options()))
        #expect(short.faults.count == FaultKind.Part.allCases.count)
        for (part, faults) in short.faults { #expect(long.faults[part]?.starts(with: faults) == true) }
    }

    @Test("Faults of a part do not overlap, and strike what there is")
    func places() {
        let schedule = Schedule(options())
        #expect(schedule.faults.count == FaultKind.Part.allCases.count)
        for (part, faults) in schedule.faults {
            for (fault, next) in zip(faults, faults.dropFirst()) {
                #expect(fault.start + fault.duration + part.gap.lowerBound <= next.start)
            }
            let places = part == .brokers ? 0..<3 : 0..<4
            #expect(faults.allSatisfy { places.contains($0.place) && $0.kind.part == part })
        }
    }

    @Test("Every kind comes before one of its part comes twice more")
    func everyKind() {
        let schedule = Schedule(options())
        for part in FaultKind.Part.allCases {
            let kinds = Set(FaultKind.allCases.filter { $0.part == part })
            #expect(Set((schedule.faults[part] ?? []).prefix(kinds.count).map(\.kind)) == kinds)
        }
    }

    @Test("Where no disk can be full, and where no broker can break, none does")
    func leftOut() {
        let schedule = Schedule(options(brokers: 0, hasSmallDisks: false))
        #expect(Set(schedule.faults.keys) == [.workers, .database, .apple])
        #expect(schedule.faults.values.joined().allSatisfy { !$0.kind.needsSmallDisk })
    }
}
