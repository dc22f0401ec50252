import Fulfillment
import Ledger
import Purchases

/// I10, I11 and I12: events are on their topics, and in order.
///
/// How far the outbox is published was asked before the topics' ends were, so whatever counted as published then must show.
/// Keeps 32 bytes for each key in each partition.
struct DeliveryCheck: Sendable {
    private struct Line: Hashable {
        let partition: Int32
        let key: Identity
    }

    private let places: Places
    private let topics: OutputTopics
    private let relay: RelayState
    private var published = Tally()
    private var all = Tally()
    private var order = Tally()
    /// Where the last event of each key is, in ledger order.
    private var last: [Line: Int64] = [:]

    init(_ places: Places, _ topics: OutputTopics, _ relay: RelayState) {
        self.places = places
        self.topics = topics
        self.relay = relay
    }

    /// Events come in ledger order.
    ///
    /// - Parameter copy: the event's first.
    mutating func take(_ entry: OutboxEntry, _ copy: CopyIndex.Copy?, _ retention: Retention) {
        let isPublished = relay.isPublished(entry.sequence)
        if let copy {
            if isPublished { published.check() }
            all.check()
            checkOrder(entry, copy, retention)
        } else if retention.mayHaveLost(entry.event, in: topics[entry.event.kind]) {
            if isPublished { published.skip() }
            all.skip()
        } else {
            if isPublished {
                published.check()
                published.violate("\(entry.name) counts as published, and is not on \(topics[entry.event.kind])")
            }
            all.check()
            all.violate("\(entry.name) is not on \(topics[entry.event.kind])")
        }
    }

    private mutating func checkOrder(_ entry: OutboxEntry, _ copy: CopyIndex.Copy, _ retention: Retention) {
        // Records without a key have no order to keep.
        guard let key = entry.event.key else { return }
        // The first copy may be gone, and what is left is a later one.
        guard !retention.lostSome(places.partition(of: copy.place)) else { return order.skip() }
        order.check()
        let line = Line(partition: copy.place.partition, key: Identity(parts: [key]))
        if let before = last[line], before > copy.place.offset {
            order.violate("\(entry.name) is at \(places.text(copy.place)), after an event of its key that follows it")
        }
        last[line] = max(last[line] ?? -1, copy.place.offset)
    }

    func findings(drained: Bool) -> [Finding] {
        [
            published.finding(on: .publishedIsThere, drained: drained),
            all.finding(on: .everythingIsThere, drained: drained),
            order.finding(on: .orderPerKey, drained: drained),
        ]
    }
}
