/// Where that comes from which waits for a call: how long it may stand in the line of a target that is away.
enum Asker: Hashable, Sendable {
    /// The input topic: it holds a place of the window.
    case topic
    /// The ledger, where it was due: it holds one of a few places.
    case ledger
    /// Nothing else waits for its place.
    case patient
}

/// Names somebody who waits to make a call; never used twice.
struct CallerID: Hashable, Sendable, Comparable {
    let rawValue: UInt64
    let asker: Asker

    init(rawValue: UInt64, for asker: Asker = .patient) {
        self.rawValue = rawValue
        self.asker = asker
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Those who wait to call one target, oldest first in each lane.
///
/// Who waits is an admitted submission, so the ``Window`` bounds the line.
struct CallLine: Sendable {
    /// What a call is to the submission that it is made for.
    enum Lane: Hashable, Sendable, CaseIterable {
        /// A further call of a try that has begun: what was learnt before it is not thrown away.
        case goingOn
        /// The first call of another try.
        case again
        /// The first call of all.
        case first
    }

    private var goingOn = Queue<CallerID>()
    private var again = Queue<CallerID>()
    private var first = Queue<CallerID>()

    var count: Int { goingOn.count + again.count + first.count }
    var isEmpty: Bool { count == 0 }

    func isEmpty(_ lane: Lane) -> Bool {
        switch lane {
        case .goingOn: goingOn.isEmpty
        case .again: again.isEmpty
        case .first: first.isEmpty
        }
    }

    mutating func append(_ id: CallerID, _ lane: Lane) {
        with(lane) { $0.append(id) }
    }

    mutating func popFirst(_ lane: Lane) -> CallerID? {
        with(lane) { $0.popFirst() }
    }

    /// Takes somebody out who gave up; searches, because that is rare.
    mutating func remove(_ id: CallerID, _ lane: Lane) -> Bool {
        with(lane) { $0.remove(id) }
    }

    /// Empties the lanes.
    mutating func removeAll() -> [CallerID] {
        defer { self = CallLine() }
        return Array(goingOn) + Array(again) + Array(first)
    }

    /// Sends away those before whom more stand than may, the last ones first. First tries stand before those that are tried
    /// again: of a target that is away they say more.
    ///
    /// - Parameters:
    ///   - most: how many go at most.
    ///   - mostAhead: how many may stand before one.
    mutating func thin(atMost most: Int, mostAhead: (Asker) -> Int) -> [CallerID] {
        var ahead = 0
        var crowded: [CallerID] = []
        for id in Array(goingOn) + Array(first) + Array(again) {
            if ahead < mostAhead(id.asker) { ahead += 1 } else { crowded.append(id) }
        }
        let away = crowded.suffix(most)
        guard !away.isEmpty else { return [] }
        let gone = Set(away)
        for lane in Lane.allCases { with(lane) { $0.keep(where: { !gone.contains($0) }) } }
        return Array(away)
    }

    private mutating func with<Result>(_ lane: Lane, _ body: (inout Queue<CallerID>) -> Result) -> Result {
        switch lane {
        case .goingOn: body(&goingOn)
        case .again: body(&again)
        case .first: body(&first)
        }
    }
}
