import Ledger
import Purchases

/// The model's outbox, with the deliveries that events wait for and the relay that publishes them.
struct NaiveOutbox {
    struct Entry: Equatable {
        let sequence: Int64
        let event: EventID
        var isCopy = false
    }

    struct Delivery: Equatable {
        let bundleID: BundleID
        /// Nil once it is done.
        var place: NaiveLedger.Place?
        var joined = 0
        var attempts = 0
    }

    /// What is in it, in order.
    private(set) var entries: [Entry] = []
    private(set) var lastSequence: Int64 = 0
    /// Every event that was written, with copies or without.
    private(set) var written: Set<EventID> = []
    private(set) var quarantined: Set<EventID> = []
    var deliveries: [EventID: Delivery] = [:]
    /// Deliveries in the order in which they were opened.
    private(set) var openings: [EventID] = []
    private(set) var publishedThrough: Int64 = 0
    private(set) var withheld: Set<Int64> = []
    private(set) var relay: NaiveLedger.Place?

    var unpublished: Int { entries.count { $0.sequence > publishedThrough || withheld.contains($0.sequence) } }
    var open: [EventID] { openings.filter { deliveries[$0]?.place != nil } }

    /// What came in after a sequence; nil if copies are among it.
    func added(after sequence: Int64) -> [Entry]? {
        let added = entries.filter { $0.sequence > sequence }
        return added.contains(where: \.isCopy) ? nil : added
    }

    mutating func write(_ event: EventID) {
        lastSequence += 1
        entries.append(Entry(sequence: lastSequence, event: event))
        written.insert(event)
    }

    /// One more copy: at once if the event is there, else when its delivery is done.
    mutating func copy(_ event: EventID) {
        if deliveries[event]?.place != nil {
            deliveries[event]?.joined += 1
        } else {
            lastSequence += 1
            entries.append(Entry(sequence: lastSequence, event: event, isCopy: true))
        }
    }

    mutating func quarantine(_ event: EventID) {
        if quarantined.insert(event).inserted { write(event) }
    }

    mutating func deliver(_ event: EventID, of bundleID: BundleID, _ place: NaiveLedger.Place) {
        deliveries[event] = Delivery(bundleID: bundleID, place: place)
        openings.append(event)
    }

    /// - Returns: what this added.
    mutating func report(_ reports: [DeliveryReport], _ worker: WorkerID, now: Timestamp) -> [Entry]? {
        let before = lastSequence
        for report in reports {
            guard var delivery = deliveries[report.eventID], let place = delivery.place else { continue }
            switch report.end {
            case .done:
                delivery.place = nil
            case .again(let delay):
                guard place.worker == worker else { continue }
                delivery.place = .init(dueAt: now.advanced(by: delay), worker: nil)
            }
            delivery.attempts = report.attempts
            deliveries[report.eventID] = delivery
            guard delivery.place == nil else { continue }
            write(report.eventID)
            for _ in 0..<min(delivery.joined, 10) { copy(report.eventID) }
        }
        return added(after: before)
    }

    /// - Returns: whether the worker has the relay now.
    mutating func take(_ worker: WorkerID, for lease: Duration, now: Timestamp) -> Bool {
        if let relay, relay.worker != worker, relay.dueAt > now { return false }
        relay = .init(dueAt: now.advanced(by: lease), worker: worker)
        return true
    }

    mutating func leave(_ worker: WorkerID) {
        if relay?.worker == worker { relay = nil }
    }

    /// - Returns: whether it was noted.
    mutating func published(_ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp) -> Bool {
        guard relay?.worker == worker else { return false }
        relay?.dueAt = now.advanced(by: lease)
        publishedThrough = note.through
        withheld = withheld.union(note.withhold).subtracting(note.release)
        entries.removeAll { [publishedThrough, withheld] in
            $0.isCopy && $0.sequence <= publishedThrough && !withheld.contains($0.sequence)
        }
        return true
    }
}
