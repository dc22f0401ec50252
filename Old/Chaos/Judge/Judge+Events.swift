import Kafka
import Ledger
import Purchases

extension Judge {
    func events() -> [Violation] {
        var wrong: [Violation] = []
        let names: [EventTopic: String] = [
            .granted: Topic.granted, .failed: Topic.failed, .quarantined: Topic.quarantined,
        ]
        var known: Set<EventID> = []
        for row in ledger.events {
            let event = row.event
            known.insert(event.id)
            guard let entry = topics.entries[event.id] else {
                wrong.append(
                    Violation(
                        rule: .published,
                        detail: "\(event.id) (\(event.kind.rawValue), entry \(row.sequence)) is on no topic"))
                continue
            }
            if entry.topic != names[event.kind] {
                wrong.append(Violation(rule: .published, detail: "\(event.id) is on \(entry.topic)"))
            }
            let headers = entry.headers.map { EventHeader(name: $0.name, value: $0.value) }
            if entry.hasDifferentCopies || entry.key != event.key || entry.value != event.value
                || headers != event.headers
            {
                wrong.append(Violation(rule: .identical, detail: "\(event.id) on \(entry.topic)"))
            }
        }
        for id in topics.entries.keys.sorted() where !known.contains(id) {
            wrong.append(Violation(rule: .published, detail: "\(id) is not in the ledger"))
        }
        if topics.nameless > 0 {
            wrong.append(Violation(rule: .published, detail: "\(topics.nameless) records have no event id"))
        }
        return wrong
    }
}
