import Contract
import Kafka

/// The records of the output topics, and whether they are what had to come.
struct Answers {
    private(set) var records = 0
    /// Ids of quarantined records; one that is read again is quarantined again under the same id.
    private var quarantinedIDs: Set<EventID> = []
    /// Records that are no event.
    private(set) var unreadable = 0
    /// Bytes seen under an event id; more than one text means that copies differ.
    private var values: [String: Set<[UInt8]>] = [:]
    /// Ids of the granted events of a transaction; more than one means that it was granted twice.
    private(set) var grants: [TransactionID: Set<String>] = [:]
    /// Submissions for which a granted event was published again, and its transaction.
    private var repeats: [SubmissionID: TransactionID] = [:]
    private(set) var failures: [SubmissionID: String] = [:]
    /// Submissions that began to wait.
    private(set) var pending: Set<SubmissionID> = []
    /// Granted events, by how their purchases were proven.
    private(set) var proofs: [String: Int] = [:]

    mutating func take(_ records: [InputRecord], of topic: String) {
        self.records += records.count
        for record in records {
            switch Topic.outputs.first(where: { $0.defaultName == topic }) {
            case .quarantined: quarantined(record)
            case .granted: granted(record)
            case .failed: failed(record)
            case .pending: pending(record)
            case .submitted, nil: unreadable += 1
            }
        }
    }

    /// Quarantined records, each counted once.
    var quarantined: Int { quarantinedIDs.count }

    /// Granted events, each counted once.
    var granted: Int { grants.values.reduce(0) { $0 + $1.count } }

    /// Whether all copies of each event are the same to the last byte.
    var copiesAreEqual: Bool { values.values.allSatisfy { $0.count == 1 } }

    /// Whether a submission has its expected answer.
    func hold(_ submission: DemoSubmission) -> Bool {
        switch submission.expectation {
        case .granted(let transactions): transactions.allSatisfy { grants[$0]?.count == 1 }
        case .repeated(let transaction):
            grants[transaction]?.count == 1 && submission.id.flatMap { repeats[$0] } == transaction
        case .failed(let reason): submission.id.flatMap { failures[$0] } == reason.rawValue
        case .quarantined: true
        }
    }

    private mutating func quarantined(_ record: InputRecord) {
        guard let id = QuarantineLabel(record.headers)?.id else {
            unreadable += 1
            return
        }
        quarantinedIDs.insert(id)
    }

    private mutating func granted(_ record: InputRecord) {
        guard let event = event(record), let name = event["transactionId"]?.text,
            let id = event["eventId"]?.text
        else {
            unreadable += 1
            return
        }
        let transaction = TransactionID(name)
        if grants[transaction, default: []].insert(id).inserted {
            proofs[event["verifiedBy"]?.text ?? "nothing", default: 0] += 1
        }
        let header = record.headers.first { $0.name == GrantedEvent.repeatHeader }
        if let submission = header?.value {
            repeats[SubmissionID(String(decoding: submission, as: UTF8.self))] = transaction
        }
    }

    private mutating func failed(_ record: InputRecord) {
        guard let event = event(record), let submission = event["submissionId"]?.text,
            let reason = event["reason"]?.text
        else {
            unreadable += 1
            return
        }
        failures[SubmissionID(submission)] = reason
    }

    private mutating func pending(_ record: InputRecord) {
        guard let event = event(record), let submission = event["submissionId"]?.text, event["cause"]?.text != nil
        else {
            unreadable += 1
            return
        }
        pending.insert(SubmissionID(submission))
    }

    private mutating func event(_ record: InputRecord) -> StrictJSON.Members? {
        guard let value = record.value, let members = try? StrictJSON(value).members,
            let id = members["eventId"]?.text
        else { return nil }
        values[id, default: []].insert(value)
        return members
    }
}

extension JSONValue {
    fileprivate var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}
