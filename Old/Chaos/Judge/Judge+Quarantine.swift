import Kafka
import Purchases

extension Judge {
    func quarantine() -> [Violation] {
        var wrong: [Violation] = []
        var quarantined: [Origin: TopicIndex.Entry] = [:]
        for entry in topics.entries.values where entry.topic == Topic.quarantined {
            guard let origin = Origin(entry) else {
                wrong.append(Violation(rule: .quarantined, detail: "a record does not say where it is from"))
                continue
            }
            if quarantined.updateValue(entry, forKey: origin) != nil {
                wrong.append(Violation(rule: .quarantined, detail: "\(origin) is there twice"))
            }
        }
        for record in submitted where record.claim.expectation == .quarantined {
            let origin = Origin(topic: Topic.submitted, partition: record.partition, offset: record.offset)
            guard let entry = quarantined[origin] else {
                wrong.append(Violation(rule: .quarantined, detail: "\(origin) is missing"))
                continue
            }
            if entry.value != record.message.value || entry.key != record.message.key {
                wrong.append(Violation(rule: .quarantined, detail: "\(origin) was changed"))
            }
        }
        return wrong
    }
}

extension Origin {
    /// What a quarantined record says of where it is from.
    fileprivate init?(_ entry: TopicIndex.Entry) {
        func text(_ name: String) -> String? {
            entry.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let topic = text("x-origin-topic"), let partition = text("x-origin-partition").flatMap(Int32.init),
            let offset = text("x-origin-offset").flatMap(Int64.init)
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset)
    }
}
