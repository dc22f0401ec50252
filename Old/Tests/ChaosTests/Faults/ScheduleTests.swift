import Testing

@testable import grantor_chaos

@Suite("Schedule")
struct ScheduleTests {
    static let seeds: [UInt64] = [0, 1, 2, 2030, .max]
    static let hour = 3_600_000

    private static func options(_ seed: UInt64, length: Int = hour, workers: Int = 3) -> Schedule.Options {
        Schedule.Options(seed: seed, length: length, workers: workers)
    }

    @Test("The same seed gives the same schedule, another seed another one", arguments: seeds)
    func repeats(seed: UInt64) {
        #expect(Schedule(Self.options(seed)) == Schedule(Self.options(seed)))
        #expect(Schedule(Self.options(seed)) != Schedule(Self.options(seed ^ 4)))
    }

    @Test("The schedule of a seed does not change from build to build")
    func isFixed() {
        let first = Schedule(Self.options(2030)).text.split(separator: "\n").prefix(3).map {
            $0.drop { $0 == " " }
        }
        #expect(
            first == [
                "2.1 s  App Store out: App Store, for 4.5 s",
                "4.5 s  inventory service browned out: inventory service, for 7.4 s",
                "7.4 s  database restarted: PostgreSQL, for 1.7 s",
            ])
    }

    @Test("Twenty minutes hold at least 200 faults, of every kind", arguments: seeds)
    func isFull(seed: UInt64) {
        let faults = Schedule(Self.options(seed, length: 1_200_000)).faults
        #expect(faults.count >= 200)
        let counts = Dictionary(grouping: faults, by: \.kind).mapValues(\.count)
        for kind in FaultKind.allCases { #expect(counts[kind, default: 0] >= 4, "\(kind.rawValue)") }
    }

    @Test("The run of every change knows every kind of fault")
    func shortRunHasAll() {
        let kinds = Set(Schedule(Self.options(2030, length: 90_000)).faults.map(\.kind))
        #expect(Set(FaultKind.allCases).subtracting(kinds) == [])
    }

    @Test("No two faults meet where one would hide or undo the other", arguments: seeds)
    func nothingOverlaps(seed: UInt64) {
        let faults = Schedule(Self.options(seed)).faults
        for (index, fault) in faults.enumerated() {
            for other in faults[(index + 1)...].prefix(while: { $0.start < fault.end + Schedule.rest }) {
                #expect(!fault.place.excludes(other.place), "\(fault) and \(other)")
            }
        }
    }

    @Test("One worker at least is left to itself, and never more faults than allowed at once", arguments: seeds)
    func someoneWorks(seed: UInt64) {
        for workers in 2...4 {
            let faults = Schedule(Self.options(seed, workers: workers)).faults
            for fault in faults {
                let present = faults.filter { $0.start <= fault.start && $0.end >= fault.start }
                #expect(present.count <= Schedule.limitAtOnce)
                let struck = present.count { if case .worker = $0.place { true } else { false } }
                #expect(struck < workers)
            }
        }
    }

    @Test("Faults last as long as their kind says, strike where it may, and a frozen worker loses its session")
    func kindsAreKept() {
        for fault in Schedule(Self.options(7)).faults {
            #expect(fault.kind.milliseconds.contains(fault.duration))
            #expect(fault.kind.places(workers: 3).contains(fault.place))
        }
        #expect(FaultKind.freeze.milliseconds.lowerBound > Broker.sessionMilliseconds)
        #expect(FaultKind.pause.milliseconds.upperBound < Broker.sessionMilliseconds)
    }
}
