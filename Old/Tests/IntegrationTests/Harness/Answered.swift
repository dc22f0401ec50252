import Foundation
import Kafka
import Purchases

/// Everything that came on the output topics.
struct Answered: Sendable {
    /// The members of an event that judging it needs.
    struct Body: Decodable {
        let eventId: String
        let submissionId: String
        let transactionId: String?
        let reason: String?
    }

    private(set) var records: [KafkaRecord] = []
    /// Values that came under an event id; more than one means that copies differ.
    private(set) var values: [EventID: Set<[UInt8]>] = [:]
    /// Ids of events that granted a transaction; more than one means that it was granted twice.
    private(set) var grants: [TransactionID: Set<EventID>] = [:]
    private(set) var failures: [SubmissionID: String] = [:]
    private(set) var quarantined = 0
    /// Events that are no JSON of the expected form.
    private(set) var unreadable = 0

    mutating func add(_ batch: [KafkaRecord]) {
        records += batch
        for record in batch {
            guard record.partition.topic != Topic.quarantined else {
                quarantined += 1
                continue
            }
            guard let value = record.value, let body = try? JSONDecoder().decode(Body.self, from: Data(value)) else {
                unreadable += 1
                continue
            }
            values[EventID(body.eventId), default: []].insert(value)
            if record.partition.topic == Topic.failed {
                failures[SubmissionID(body.submissionId)] = body.reason
            } else if let transaction = body.transactionId {
                grants[TransactionID(transaction), default: []].insert(EventID(body.eventId))
            }
        }
    }

    /// Whether a submission's answer is among them.
    func answers(_ played: Played) -> Bool {
        switch played.expectation {
        case .granted(let transactions): transactions.allSatisfy { grants[$0] != nil }
        case .failed(let reason): played.submissionID.flatMap { failures[$0] } == reason.rawValue
        case .quarantined: quarantined > 0
        }
    }

    /// Submissions whose answer is missing.
    func missing(_ played: [Played]) -> [Played] {
        played.filter { !answers($0) }
    }
}
