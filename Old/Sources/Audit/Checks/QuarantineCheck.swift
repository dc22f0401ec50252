import Fulfillment
import Ledger
import Purchases

/// I21: what could not be read is passed on as it came. Keeps 32 bytes per unreadable record and 32 per quarantined one.
struct QuarantineCheck: Sendable {
    private let places: Places
    private let bounds: AuditBounds
    private var tally = Tally()
    /// What the unreadable records hold.
    private var contents: [Place: Identity] = [:]
    /// Quarantined records, by their events.
    private var rows: [Identity: Place] = [:]
    private var quarantined: Set<Place> = []

    init(_ places: Places, _ bounds: AuditBounds) {
        self.places = places
        self.bounds = bounds
    }

    mutating func take(unreadable record: TopicRecord, at place: Place) {
        contents[place] = Identity(key: record.key, value: record.value, headers: record.headers)
    }

    mutating func take(_ row: QuarantineRow, at place: Place?) {
        guard let place else { return tally.skip() }
        rows[Identity(row.eventID)] = place
        quarantined.insert(place)
    }

    mutating func take(_ row: SubmissionRow, at place: Place?) {
        guard let place, quarantined.contains(place) else { return }
        tally.violate("\(places.text(place)) is quarantined, and \(row.name) comes from there too")
    }

    mutating func take(_ entry: OutboxEntry, _ id: Identity) {
        guard entry.event.kind == .quarantined, let place = rows[id] else { return }
        // Gone from the topic, or unreadable to the version that quarantined it only.
        guard let content = contents[place] else { return tally.skip() }
        tally.check()
        let event = entry.event
        let came = Identity(key: event.key, value: event.value, headers: QuarantinedEvent.headersAsTheyCame(event))
        if came != content { tally.violate("\(entry.name) is not what came in at \(places.text(place))") }
    }

    func finding(drained: Bool) -> Finding { tally.finding(on: .quarantineIsUntouched, drained: drained) }
}
