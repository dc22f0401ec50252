import SystemTesting

/// One fault: when, what, where, for how long.
struct ScheduledFault: Hashable, Sendable {
    /// Milliseconds after the first submission.
    let start: Int
    let kind: FaultKind
    let place: FaultPlace
    /// Milliseconds.
    let duration: Int

    var end: Int { start + duration }
}

/// All faults of a run, drawn from the seed alone. Pure: the same seed gives the same schedule on every machine.
struct Schedule: Hashable, Sendable {
    /// What a schedule is drawn for.
    struct Options: Hashable, Sendable {
        var seed: UInt64
        /// Milliseconds in which faults begin.
        var length: Int
        var workers: Int
    }

    /// How far apart faults begin, in milliseconds.
    static let gap = 2000...4000
    /// After its end a place is left alone for so many milliseconds.
    static let rest = 2000
    /// Faults at a time, at most, so that a run is more than an outage.
    static let limitAtOnce = 3

    /// In order of their start.
    let faults: [ScheduledFault]

    /// Draws a schedule. Kinds are dealt like cards, so that each comes once before one comes twice.
    init(_ options: Options) {
        var generator = SeededGenerator(seed: options.seed)
        var faults: [ScheduledFault] = []
        var cards: [FaultKind] = []
        var time = Int.random(in: Self.gap, using: &generator)
        while time < options.length {
            if cards.count < FaultKind.allCases.count / 2 { cards += FaultKind.allCases.shuffled(using: &generator) }
            let places = cards.map { Self.freePlaces($0, at: time, faults, options) }
            if let index = places.firstIndex(where: { !$0.isEmpty }) {
                let kind = cards.remove(at: index)
                let places = places[index]
                let place = places[Int.random(in: places.indices, using: &generator)]
                let duration = Int.random(in: kind.milliseconds, using: &generator)
                faults.append(ScheduledFault(start: time, kind: kind, place: place, duration: duration))
            }
            time += Int.random(in: Self.gap, using: &generator)
        }
        self.faults = faults
    }

    /// Places where a kind may strike at a moment, after what was drawn before.
    private static func freePlaces(
        _ kind: FaultKind, at time: Int, _ faults: [ScheduledFault], _ options: Options
    ) -> [FaultPlace] {
        let present = faults.filter { $0.end + rest > time }
        guard present.count < limitAtOnce else { return [] }
        // One worker at least is left to itself.
        let isWorker = present.count { if case .worker = $0.place { true } else { false } }
        return kind.places(workers: options.workers).filter { place in
            if case .worker = place, isWorker >= options.workers - 1 { return false }
            return !present.contains { $0.place.excludes(place) }
        }
    }

    /// One line per fault.
    var text: String {
        faults.map { fault in
            let seconds = Self.seconds(fault.start).leftPadded(to: 8)
            let lasting = fault.duration == 0 ? "" : ", for \(Self.seconds(fault.duration)) s"
            return "\(seconds) s  \(fault.kind.rawValue): \(fault.place)\(lasting)"
        }.joined(separator: "\n")
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\(milliseconds / 100 % 10)"
    }
}
