import Foundation
import Ledger
import Purchases

/// I8: grants, failures and quarantined records on the one hand and events on the other belong together, one to one.
///
/// The rows of a snapshot are of one moment, so that neither side can be ahead. Keeps 17 bytes per submission and per
/// quarantined record; grants are marked in the ``GrantIndex``.
struct OutboxCheck: Sendable {
    private var tally = Tally()
    /// Submissions, by the id that their failed event has or would have; true while that event is missing.
    private var failures: [Identity: Bool] = [:]
    private var quarantines: [Identity: Bool] = [:]
    /// Failed events of submissions that were granted later, under the same id.
    private var overtaken = 0

    mutating func take(_ row: SubmissionRow, _ id: Identity) {
        if row.outcome == .failed { tally.check() }
        failures[id] = row.outcome == .failed
    }

    mutating func take(_ row: QuarantineRow) {
        tally.check()
        quarantines[Identity(row.eventID)] = true
    }

    mutating func take(_ grant: GrantRow) { tally.check() }

    /// - Returns: what a granted event says; nil for any other, and for one that cannot be read.
    mutating func take(_ entry: OutboxEntry, _ id: Identity, _ grants: inout GrantIndex) -> GrantedBody? {
        tally.check()
        switch entry.event.kind {
        case .granted: return granted(entry, id, &grants)
        case .failed: failed(entry, id)
        case .quarantined:
            if quarantines[id] == nil { tally.violate("\(entry.name) tells of no quarantined record") }
            quarantines[id] = false
        }
        return nil
    }

    private mutating func granted(
        _ entry: OutboxEntry, _ id: Identity, _ grants: inout GrantIndex
    ) -> GrantedBody? {
        let body = entry.event.value.flatMap { try? JSONDecoder().decode(GrantedBody.self, from: Data($0)) }
        guard let grant = grants.marks[id] else {
            tally.violate("\(entry.name) tells of no grant")
            return body
        }
        grants.tell(id)
        guard let body, GrantContent(body).identity == grant.content, entry.event.key == Array(body.userId.utf8) else {
            tally.violate("\(entry.name) tells something else than its grant")
            return body
        }
        return body
    }

    private mutating func failed(_ entry: OutboxEntry, _ id: Identity) {
        switch failures[id] {
        case true: failures[id] = false
        case false: overtaken += 1
        case nil: tally.violate("\(entry.name) tells of no submission")
        }
    }

    /// Once all events were taken.
    mutating func finding(_ grants: GrantIndex, drained: Bool) -> Finding {
        let silent = [
            ("grant", grants.marks.filter { !$0.value.isTold && !$0.value.isToBeDelivered }.map(\.key)),
            ("failure", failures.filter(\.value).map(\.key)),
            ("quarantined record", quarantines.filter(\.value).map(\.key)),
        ]
        for (what, ids) in silent {
            for id in ids.sorted() { tally.violate("a \(what) has no event \(id)") }
        }
        return tally.finding(
            on: .outboxMatches, drained: drained,
            note: overtaken == 0 ? nil : "\(overtaken) failed events are of submissions that are not failed any more")
    }
}

extension OutboxEntry {
    /// For people.
    var name: String { "event \(event.id) (\(event.kind.rawValue), sequence \(sequence))" }
}
