import Fulfillment
import Ledger
import Purchases

/// I1, I2 and I5: what was read has a fate.
///
/// Offsets were asked for before the ledger was read, and a fate is never taken back, so whatever they had passed then must
/// show now.
///
/// Keeps 32 bytes for each submission id on the input topic until its row comes.
struct FateCheck: Sendable {
    private let bounds: AuditBounds
    private let topic: String
    private let places: Places
    private var below = Tally()
    private var contiguous = Tally()
    private var all = Tally()
    /// Submissions without a row so far: where their record is, one below the committed offset if there is one.
    private var waiting: [Identity: Place] = [:]
    /// The same for what cannot be read.
    private var unreadable: Set<Place> = []
    private var quarantined: Set<Place> = []
    /// Whether the ledger has anything that came from the input topic.
    private var hasSettled = false
    /// The last record of each partition.
    private var last: [Int32: Int64] = [:]

    init(_ bounds: AuditBounds, _ topic: String, _ places: Places) {
        self.bounds = bounds
        self.topic = topic
        self.places = places
        for (partition, offsets) in bounds.offsets where partition.topic == topic {
            guard let committed = bounds.committed[partition] else { continue }
            below.skip(Int(min(committed, offsets.lowerBound)))
        }
    }

    private func isBelow(_ place: Place) -> Bool {
        place.offset < bounds.committed[places.partition(of: place)] ?? 0
    }

    mutating func take(_ subject: RecordSubject, at place: Place) {
        if isBelow(place) { below.check() }
        all.check()
        last[place.partition] = max(last[place.partition] ?? -1, place.offset)
        switch subject {
        case .unreadable: unreadable.insert(place)
        case .submission(let key):
            let id = Identity(key)
            if let known = waiting[id], isBelow(known) || !isBelow(place) { return }
            waiting[id] = place
        }
    }

    mutating func quarantined(_ place: Place?) {
        guard let place else { return }
        saw(place)
        quarantined.insert(place)
        unreadable.remove(place)
    }

    /// - Parameter place: where the row's own record is.
    mutating func settled(_ submission: Identity, _ place: Place?) {
        waiting[submission] = nil
        guard let place else { return }
        saw(place)
        // An earlier version of the program may have read what this one cannot, and the other way round.
        unreadable.remove(place)
    }

    private mutating func saw(_ place: Place) {
        if places.partition(of: place).topic == topic { hasSettled = true }
    }

    /// Whether there is something to have committed, and no offset: a group that no worker was in, most likely. Nothing can
    /// be said of its offsets then, least of all that they are right.
    private var hasNoOffsets: Bool {
        bounds.committed.isEmpty
            && (hasSettled || bounds.offsets.contains { $0.key.topic == topic && $0.value.upperBound > 0 })
    }

    /// Once all rows were taken.
    mutating func findings(drained: Bool) -> [Finding] {
        let missing = (waiting.values.filter { !quarantined.contains($0) } + unreadable).sorted()
        var first: [Int32: Int64] = [:]
        for place in missing {
            first[place.partition] = min(first[place.partition] ?? .max, place.offset)
            all.violate("\(places.text(place)) has no fate")
            if isBelow(place) { below.violate("\(places.text(place)) has no fate") }
        }
        for (partition, committed) in bounds.committed.sorted(by: { $0.key < $1.key }) {
            contiguous.check()
            guard let number = places.place(partition, 0)?.partition else { continue }
            let name = "\(partition.topic)[\(partition.partition)]"
            let end = max(bounds.offsets[partition]?.upperBound ?? 0, (last[number] ?? -1) + 1)
            if let offset = first[number], offset < committed {
                contiguous.violate("\(name): committed \(committed), and \(offset) has no fate")
            } else if committed > end {
                contiguous.violate("\(name): committed \(committed), and the partition ends at \(end)")
            }
        }
        let ofOffsets =
            hasNoOffsets
            ? [
                Finding(
                    notApplicable: .committedHasFate,
                    note: "the group has no committed offset on \(topic); is it the workers' group?"),
                Finding(notApplicable: .committedIsContiguous),
            ]
            : [
                below.finding(on: .committedHasFate, drained: drained),
                contiguous.finding(on: .committedIsContiguous, drained: drained),
            ]
        return ofOffsets + [
            all.finding(
                on: .everyRecordHasFate, drained: drained,
                note: drained || missing.isEmpty ? nil : "\(missing.count) records wait for their fate")
        ]
    }
}

extension Identity {
    /// A submission, by what names it for ever: it goes by the id that its failed event has or would have.
    init(_ key: SubmissionKey) {
        self.init(FailedEvent.id(bundleID: key.bundleID, submissionID: key.submissionID))
    }
}
