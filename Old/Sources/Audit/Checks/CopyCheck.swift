import Fulfillment
import Ledger
import Purchases

/// I9: what is on the output topics is what the outbox holds.
///
/// The topics' ends were taken before the ledger's snapshot, and an event is in the ledger before it is published, so every
/// record below them has its row. Keeps nothing of its own beside the ``CopyIndex``.
struct CopyCheck: Sendable {
    private let places: Places
    private let topics: OutputTopics
    private var tally = Tally()
    private var repeats = 0

    init(_ places: Places, _ topics: OutputTopics) {
        self.places = places
        self.topics = topics
    }

    mutating func take(_ record: TopicRecord, kind: EventTopic, _ place: Place, _ index: inout CopyIndex) {
        tally.check()
        guard let id = record.eventID(of: kind) else { return tally.violate("\(record.place) names no event") }
        let content = Identity(key: record.key, value: record.value, headers: record.headers)
        switch index.take(Identity(id), CopyIndex.Copy(content: content, place: place)) {
        case .first: break
        case .repeated: repeats += 1
        case .altered(let first):
            tally.violate("\(record.place) differs from the copy of event \(id) at \(places.text(first.place))")
        }
    }

    mutating func take(_ entry: OutboxEntry, _ copy: CopyIndex.Copy?) {
        guard let copy else { return }
        let event = entry.event
        if places.partition(of: copy.place).topic != topics[event.kind] {
            tally.violate("\(entry.name) is on another topic, at \(places.text(copy.place))")
        }
        if copy.content != Identity(key: event.key, value: event.value, headers: event.headers) {
            tally.violate("\(entry.name) differs from its copy at \(places.text(copy.place))")
        }
    }

    /// Once all events were taken.
    ///
    /// - Parameter strays: copies that no event asked for.
    mutating func finding(strays: CopyIndex, drained: Bool) -> Finding {
        for place in strays.copies.values.map(\.place).sorted() {
            tally.violate("\(places.text(place)) tells of an event that the ledger does not have")
        }
        return tally.finding(
            on: .copiesMatch, drained: drained, note: repeats == 0 ? nil : "\(repeats) records are further copies")
    }
}
