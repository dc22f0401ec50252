import Contract
import Ledger
import Scheduling

/// When the ledger is asked for due rows of `retries`, and for which endpoints.
///
/// It knows which endpoints have rows from the samples and from this worker's own writes, so an idle worker asks for nothing.
/// Other workers' rows, and those whose moment nobody here remembers, are looked for after each sample.
struct DueWork {
    /// Until it is asked again after a time without room.
    static let roomPause: Duration = .milliseconds(250)
    /// Most endpoints asked for at once; the others are next.
    static let mostEndpoints = 64
    static let mostHeld = 16

    private(set) var pollAt: Instant?
    /// Places of gates whose endpoints have more rows than the latest request took.
    var unfinished: [Int] = []
    /// Places of gates whose endpoints have rows, in the order in which they were heard of.
    private(set) var places: [Int] = []
    private var round = FIFO<Int>()
    var hasHeld = false
    /// Held rows are taken whatever their due time, because the apps file has changed.
    var takesHeldEarly = false

    var hasRows: Bool { hasHeld || !places.isEmpty }

    mutating func poll(at moment: Instant) { pollAt = min(pollAt ?? moment, moment) }

    mutating func noteRows(at place: Int) {
        if !places.contains(place) { places.append(place) }
    }

    /// A sample says which endpoints have rows.
    mutating func sampled(_ sampled: [Int], hasHeld: Bool) {
        places = sampled
        self.hasHeld = hasHeld
    }

    /// The moment of a poll has come or not.
    mutating func takePoll(at now: Instant) -> Bool {
        guard let moment = pollAt, moment <= now else { return false }
        pollAt = nil
        unfinished.removeAll(keepingCapacity: true)
        return true
    }

    /// The next place to ask for; nil once all were asked for in this round.
    ///
    /// A round takes several polls where there is room for few rows: else the first places would have all of it for ever.
    mutating func nextPlace() -> Int? { round.popFirst() }

    /// Whether a round has begun and not ended.
    var isAmidRound: Bool { !round.isEmpty }

    mutating func beginRound() {
        for place in places { round.append(place) }
    }
}
