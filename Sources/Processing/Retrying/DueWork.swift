import Contract
import Ledger
import Scheduling

/// When the ledger is asked for due rows of `retries`, and for which endpoints.
///
/// It knows which endpoints have rows from the samples and from this worker's own writes, so an idle worker asks for nothing.
struct DueWork {
    /// While rows wait, other workers' rows are looked for so often.
    static let interval: Duration = .seconds(5)
    /// Until it is asked again after a time without room.
    static let roomPause: Duration = .milliseconds(250)
    /// Most endpoints asked for at once; the others are next.
    static let mostEndpoints = 64
    static let mostHeld = 16

    private(set) var pollAt: Instant?
    /// Places of gates whose endpoints have rows, in the order in which they were heard of.
    private(set) var places: [Int] = []
    private var turn = 0
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
        pollAt = hasRows ? now + Self.interval : nil
        return true
    }

    /// The places to ask for now: all in turn.
    mutating func nextPlaces() -> [Int] {
        guard places.count > Self.mostEndpoints else { return places }
        turn %= places.count
        let part = (0..<Self.mostEndpoints).map { places[(turn + $0) % places.count] }
        turn += Self.mostEndpoints
        return part
    }
}
