import Scheduling

/// All faults of a run, drawn from the seed alone. Pure: the same seed gives the same schedule on every machine.
struct Schedule: Hashable, Sendable {
    struct Options: Hashable, Sendable {
        var seed: UInt64
        var seconds: Int
        var workers: Int
        /// 0 if none can break.
        var brokers: Int
        /// Whether disks can be full.
        var hasSmallDisks: Bool
    }

    /// Of each part, in order of their start.
    let faults: [FaultKind.Part: [Fault]]

    /// Kinds are dealt like cards, so that each comes once before one comes twice.
    init(_ options: Options) {
        var faults: [FaultKind.Part: [Fault]] = [:]
        for (number, part) in FaultKind.Part.allCases.enumerated() where part != .brokers || options.brokers > 0 {
            // A part's faults do not depend on the others'.
            var random = SplitMix64(seed: options.seed &* 4 &+ UInt64(number))
            let kinds = FaultKind.allCases.filter { $0.part == part && (options.hasSmallDisks || !$0.needsSmallDisk) }
            var cards: [FaultKind] = []
            var time = Int.random(in: part.gap, using: &random)
            while time < options.seconds * 1000 {
                if cards.isEmpty { cards = kinds.shuffled(using: &random) }
                let kind = cards.removeLast()
                let places = part == .brokers ? options.brokers : options.workers
                let fault = Fault(
                    start: time, kind: kind, place: Int.random(in: 0..<places, using: &random),
                    duration: Int.random(in: kind.milliseconds, using: &random),
                    roundTrip: Int.random(in: 1...12, using: &random))
                faults[part, default: []].append(fault)
                time += fault.duration + Int.random(in: part.gap, using: &random)
            }
        }
        self.faults = faults
    }
}
