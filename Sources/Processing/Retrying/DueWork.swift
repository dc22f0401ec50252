import Contract
import Ledger
import Scheduling

/// When the ledger is asked for due rows of `retries`, and for which endpoints.
///
/// Samples and this worker's own writes tell which endpoints have rows, so an idle worker asks for nothing. Rows of
/// other workers, and rows whose due time is not remembered here, are looked for after each sample.
struct DueWork {
    /// The pause before the next request if no row fits.
    static let roomPause: Duration = .milliseconds(250)

    private(set) var nextAt: Instant?
    /// Places of gates whose endpoints have more rows than the latest request took.
    var unfinished: [Int] = []
    /// Places of gates whose endpoints have rows, in the order in which they became known.
    private(set) var places: [Int] = []
    private var round = FIFO<Int>()
    private(set) var hasHeld = false
    /// Heard of since a sample was asked for, which may be older.
    private var newPlaces: [Int] = []
    private var hasNewHeld = false
    /// Since this moment held rows are taken before they are due, because the apps file has changed. Nil if only due
    /// rows are taken.
    var takesHeldEarlySince: Timestamp?

    var hasRows: Bool { hasHeld || !places.isEmpty }

    mutating func schedule(at moment: Instant) { nextAt = min(nextAt ?? moment, moment) }

    mutating func noteRows(at place: Int) {
        if !places.contains(place) { places.append(place) }
        if !newPlaces.contains(place) { newPlaces.append(place) }
    }

    mutating func noteHeld() { (hasHeld, hasNewHeld) = (true, true) }

    /// A sample is asked for.
    mutating func beginSample() { (newPlaces, hasNewHeld) = ([], false) }

    /// A sample says which endpoints have rows.
    mutating func sampled(_ sampled: [Int], hasHeld: Bool) {
        places = sampled + newPlaces.filter { !sampled.contains($0) }
        self.hasHeld = hasHeld || hasNewHeld
    }

    /// The moment of a poll has come or not.
    mutating func takeTurn(at now: Instant) -> Bool {
        guard let moment = nextAt, moment <= now else { return false }
        nextAt = nil
        unfinished.removeAll(keepingCapacity: true)
        return true
    }

    /// The next place to ask for; nil once all were asked for in this round.
    ///
    /// A round takes several polls if few rows fit. Otherwise the first places would always be served first.
    mutating func nextPlace() -> Int? { round.popFirst() }

    /// Whether a round has begun and not ended.
    var isAmidRound: Bool { !round.isEmpty }

    mutating func beginRound() {
        for place in places { round.append(place) }
    }
}

/// How often the ledger is sampled: every ten seconds, and down to twice a minute while nothing happens.
///
/// While Apple is away, a fleet may have rows of `retries` for hours and do nothing but sample.
struct Samples {
    static let interval: Duration = .seconds(10)
    static let longest: Duration = .seconds(30)

    private var last: LedgerMeasure?
    private(set) var pause = interval

    func rows(waitingFor endpoint: Endpoint) -> Int { last?.waiting.first { $0.endpoint == endpoint }?.rows ?? 0 }

    /// A sample is here.
    /// - Parameter isIdle: whether this worker has nothing in flight.
    mutating func taken(_ measure: LedgerMeasure, isIdle: Bool) {
        let isQuiet =
            isIdle && last.map { $0.waiting == measure.waiting && $0.outboxRows == measure.outboxRows } ?? false
        pause = isQuiet ? min(pause * 2, Self.longest) : Self.interval
        last = measure
    }
}
