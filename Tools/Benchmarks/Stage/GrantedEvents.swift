import Contract
import Foundation
import KafkaScanning
import Scheduling

/// The events of grants, as they stand on the topic.
struct GrantedEvents {
    /// When the first event of each submission came, by the broker's clock, in milliseconds since 1970.
    private(set) var cameAt: [String: Int64] = [:]
    /// With copies, of records that a worker read again after a partition had come to it.
    private var count = 0

    /// Reads all events, and compares them with the submissions: each purchase is granted to its submission, under one
    /// event id.
    init(_ stage: Stage, expected: [String: String]) throws {
        var ids: [String: String] = [:]
        var faults: [String] = []
        var times: [String: Int64] = [:]
        var all = 0
        try stage.scan.read(topics: [Topic.granted.defaultName]) { batch in
            all += batch.records.count
            for record in batch.records {
                let event = try? JSONDecoder().decode(Event.self, from: Data(record.value ?? []))
                guard let event, let time = record.timestamp?.milliseconds,
                    let id = record.headers.first(where: { $0.name == "ce_id" })?.value
                else {
                    faults.append("an event that cannot be read")
                    continue
                }
                let name = event.submissionId
                if expected[name] != event.transactionId { faults.append("\(name) was granted \(event.transactionId)") }
                let text = String(decoding: id, as: UTF8.self)
                if ids.updateValue(text, forKey: event.transactionId).map({ $0 != text }) ?? false {
                    faults.append("\(event.transactionId) was granted twice")
                }
                times[name] = min(times[name] ?? time, time)
            }
            return true
        }
        if let fault = faults.first { throw BenchFailure(fault) }
        (cameAt, count) = (times, all)
    }

    private struct Event: Decodable {
        let submissionId, transactionId: String
    }

    /// When each submission came to its topic, by the broker's clock, in milliseconds since 1970.
    static func submissions(_ stage: Stage) throws -> [String: Int64] {
        struct Submission: Decodable { let submissionId: String }
        var times: [String: Int64] = [:]
        try stage.scan.read(topics: [Topic.submitted.defaultName]) { batch in
            for record in batch.records {
                let submission = try? JSONDecoder().decode(Submission.self, from: Data(record.value ?? []))
                times[submission?.submissionId ?? ""] = record.timestamp?.milliseconds
            }
            return true
        }
        return times
    }

    /// Milliseconds from submissions' records to their events.
    func times(of numbers: some Sequence<Int>, since submissions: [String: Int64]) -> Percentiles {
        Percentiles(numbers.map { (cameAt[Load.name($0)] ?? .max) - (submissions[Load.name($0)] ?? 0) })
    }

    /// Waits until all submissions are granted.
    static func wait(_ stage: Stage, for load: Load, atMost limit: Duration) throws -> GrantedEvents {
        let deadline = Instant.now + limit
        let wanted = load.expected.count
        var needed = wanted
        while true {
            try waitFor("\(wanted) grants", atMost: deadline - .now) { try stage.count(of: .granted) >= needed }
            let events = try GrantedEvents(stage, expected: load.expected)
            let missing = wanted - events.cameAt.count
            guard missing > 0 else { return events }
            needed = events.count + missing
        }
    }
}

/// Milliseconds, by rank.
struct Percentiles {
    private let sorted: [Int64]

    init(_ values: some Sequence<Int64>) { sorted = values.sorted() }

    /// The value that so many percent of all are at or below.
    func at(_ percent: Double) -> Double {
        sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * percent / 100))])
    }
}
