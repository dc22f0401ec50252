import Foundation
import Kafka
import Purchases

/// What came out of the output topics, and whether it is what had to come.
struct DemoAnswers: Sendable {
    /// An event as a downstream service sees it.
    private struct Body: Decodable {
        let eventId: String
        let submissionId: String
        let transactionId: String?
        let reason: String?
        let verifiedBy: String?
    }

    private let mark: String
    private(set) var grantedCopies = 0
    private(set) var failedCopies = 0
    private(set) var quarantined = 0
    private(set) var failures: [String: Int] = [:]
    /// Values seen under an event id; more than one means that copies differ.
    private(set) var values: [String: Set<[UInt8]>] = [:]
    /// Event ids that granted a transaction; more than one means that it was granted twice.
    private(set) var grants: [TransactionID: Set<String>] = [:]
    private(set) var failedSubmissions: [SubmissionID: String] = [:]
    private(set) var unreadableEvents = 0
    /// Distinct granted events, by how their purchases were proven.
    private(set) var proofs: [String: Int] = [:]

    /// Nothing received yet. Only records whose key holds the mark count: a broker may keep those of earlier runs.
    init(mark: String) {
        self.mark = mark
    }

    /// Events of all kinds received, copies included.
    var total: Int { grantedCopies + failedCopies + quarantined }

    mutating func received(_ records: [KafkaRecord], topics: TopicNames) {
        for record in records where String(decoding: record.key ?? [], as: UTF8.self).contains(mark) {
            guard record.partition.topic != topics.quarantined else {
                quarantined += 1
                continue
            }
            guard let value = record.value, let body = try? JSONDecoder().decode(Body.self, from: Data(value)) else {
                unreadableEvents += 1
                continue
            }
            let isNew = values[body.eventId] == nil
            values[body.eventId, default: []].insert(value)
            if record.partition.topic == topics.granted {
                grantedCopies += 1
                if isNew { proofs[body.verifiedBy ?? "none", default: 0] += 1 }
                if let transaction = body.transactionId {
                    grants[TransactionID(transaction), default: []].insert(body.eventId)
                }
            } else {
                failedCopies += 1
                failedSubmissions[SubmissionID(body.submissionId)] = body.reason
                if isNew { failures[body.reason ?? "none", default: 0] += 1 }
            }
        }
    }

    /// Distinct granted events.
    var distinctGrants: Int { Set(grants.values.flatMap { $0 }).count }

    /// Whether a submission's answer is there and is the one that had to come.
    func answers(_ submission: WorkloadSubmission) -> Bool {
        switch submission.expectation {
        case .granted(let transactions): transactions.allSatisfy { grants[$0]?.count == 1 }
        case .failed(let reason): submission.submissionID.flatMap { failedSubmissions[$0] } == reason.rawValue
        case .quarantined: true
        }
    }
}
