import Contract
import Kafka
import KafkaScanning
import Scheduling

/// Judges a run by the topics and the ledger, and by nothing that a worker says.
struct TopicJudge {
    /// Genuine submissions, each with its one transaction.
    let expected: [String: String]
    let scan: KafkaScan
    /// A ledger that was set back forgets moments: copies of an event may then differ in the moment alone.
    var mayBeWrittenAnew = false
    /// Records that are meant for quarantine.
    var quarantined = 0
    /// Failures of forged evidence may still be owed.
    var mayOweFailures = false

    struct Verdict {
        var faults: [String] = []
        var found = 0
        var events = 0
        var copies = 0
        var failures = 0
        /// Submissions that were told to wait.
        var pending = 0
        /// Purchases without a row, with two events of different ids, without an event.
        var (lost, twice, untold) = (0, 0, 0)

        mutating func fault(_ text: String) {
            found += 1
            if faults.count < 20 { faults.append(text) }
        }
    }

    /// When each record came, by submission, in milliseconds; the first of several.
    func times(_ topic: Topic) throws(KafkaError) -> [String: Int64] {
        try Self.patiently { () throws(KafkaError) in try timesNow(topic) }
    }

    /// The end of a run as it stands on the topics and in the ledger's file.
    func judge(ledger path: String) throws(KafkaError) -> Verdict {
        try Self.patiently { () throws(KafkaError) in try judgeNow(ledger: path) }
    }

    /// Reads again while a broker that was killed finds itself.
    private static func patiently<Value>(_ read: () throws(KafkaError) -> Value) throws(KafkaError) -> Value {
        for _ in 0..<maxReadings {
            do throws(KafkaError) { return try read() } catch {
                guard error.disposition == .retry else { throw error }
                rest(milliseconds: 1000)
            }
        }
        return try read()
    }

    private static let maxReadings = 60

    private func timesNow(_ topic: Topic) throws(KafkaError) -> [String: Int64] {
        var times: [String: Int64] = [:]
        try scan.read(topics: [topic.defaultName]) { batch in
            for record in batch.records {
                guard let name = Self.member("submissionId", record.value), let time = record.timestamp?.milliseconds
                else { continue }
                times[name] = min(times[name] ?? time, time)
            }
            return true
        }
        return times
    }

    /// Genuine submissions that are granted by now.
    func granted() throws(KafkaError) -> Int {
        let times = try times(.granted)
        return expected.keys.count { times[$0] != nil }
    }

    /// Waits until all of them are.
    func wait(_ limit: Duration) throws -> Int {
        let until = Instant.now + limit
        while true {
            let count = try granted()
            if count >= expected.count || Instant.now > until { return count }
            rest(milliseconds: 1000)
        }
    }

    private func judgeNow(ledger path: String) throws(KafkaError) -> Verdict {
        var verdict = Verdict()
        var byID: [String: InputRecord] = [:]
        var byTransaction: [String: String] = [:]
        /// When each submission was granted, as its event says.
        var granted: [String: String] = [:]
        try scan.read(topics: [Topic.granted.defaultName]) { batch in
            for record in batch.records {
                verdict.events += 1
                let id = record.headers.first { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) }
                guard let id, let transaction = Self.member("transactionId", record.value),
                    let submission = Self.member("submissionId", record.value)
                else {
                    verdict.fault("an event that cannot be read")
                    continue
                }
                granted[submission] = Self.member("grantedAt", record.value) ?? ""
                if expected[submission] != transaction { verdict.fault("\(submission) was granted \(transaction)") }
                if let first = byID[id] {
                    verdict.copies += 1
                    if !Self.isSame(first, record, but: mayBeWrittenAnew) {
                        verdict.fault("event \(id) has copies that differ")
                    }
                } else {
                    byID[id] = record
                    if let other = byTransaction.updateValue(id, forKey: transaction), other != id {
                        verdict.twice += 1
                        verdict.fault("\(transaction) was granted twice: \(other), \(id)")
                    }
                }
            }
            return true
        }
        for submission in expected.keys.sorted() where granted[submission] == nil {
            verdict.untold += 1
            verdict.fault("\(submission) was never told as granted")
        }
        try judgeOthers(&verdict)
        try judgePending(granted, &verdict)
        judgeRows(path, &verdict)
        return verdict
    }

    private func judgeOthers(_ verdict: inout Verdict) throws(KafkaError) {
        var quarantined = 0
        try scan.read(topics: [Topic.failed.defaultName, Topic.quarantined.defaultName]) { batch in
            for record in batch.records {
                guard batch.partition.topic == Topic.failed.defaultName else {
                    quarantined += 1
                    continue
                }
                verdict.failures += 1
                let name = Self.member("submissionId", record.value) ?? ""
                if expected[name] != nil { verdict.fault("\(name) failed") }
            }
            return true
        }
        if quarantined < self.quarantined || self.quarantined == 0 && quarantined > 0 {
            verdict.fault("\(quarantined) records in quarantine instead of \(self.quarantined)")
        }
    }

    /// No submission gets a pending event after its end. All workers of a run have one clock.
    private func judgePending(_ granted: [String: String], _ verdict: inout Verdict) throws(KafkaError) {
        var pending: Set<String> = []
        try scan.read(topics: [Topic.pending.defaultName]) { batch in
            for record in batch.records {
                guard let name = Self.member("submissionId", record.value),
                    let moment = Self.member("pendingAt", record.value)
                else {
                    verdict.fault("a pending event that cannot be read")
                    continue
                }
                pending.insert(name)
                guard let end = granted[name], !mayBeWrittenAnew else { continue }
                if moment > end { verdict.fault("\(name) was granted at \(end), and waited at \(moment)") }
            }
            return true
        }
        verdict.pending = pending.count
    }

    private func judgeRows(_ path: String, _ verdict: inout Verdict) {
        let tables = LedgerTables(path)
        let rows = tables.count("grants")
        if rows != expected.count { verdict.fault("\(rows) rows in grants for \(expected.count) purchases") }
        let grants = tables.grants()
        for (submission, transaction) in expected.sorted(by: { $0.key < $1.key })
        where grants[transaction] != submission {
            verdict.lost += 1
            verdict.fault("\(submission) has no grant of \(transaction) in the ledger")
        }
        let owed = tables.count(mayOweFailures ? "outbox WHERE target <> 'topic:failed'" : "outbox")
        if owed != 0 { verdict.fault("\(owed) rows in outbox") }
        let waiting = mayOweFailures ? 0 : tables.count("retries")
        if waiting != 0 { verdict.fault("\(waiting) rows in retries") }
    }

    /// Copies of an event differ in the mark of a repeat alone.
    /// - Parameter itsMoment: Whether they may also differ in the moment of the grant.
    static func isSame(_ one: InputRecord, _ other: InputRecord, but itsMoment: Bool) -> Bool {
        func headers(_ record: InputRecord) -> [RecordHeader] {
            record.headers.filter { $0.name != "grantor-repeat-of" && !(itsMoment && $0.name == "ce_time") }
        }
        func value(_ record: InputRecord) -> [UInt8]? {
            guard itsMoment, let value = record.value, let moment = member("grantedAt", value) else {
                return record.value
            }
            let text = String(decoding: value, as: UTF8.self)
            return Array(text.replacing("\"grantedAt\":\"\(moment)\"", with: "", maxReplacements: 1).utf8)
        }
        return one.key == other.key && value(one) == value(other) && headers(one) == headers(other)
    }

    /// Bytes of a record that are looked through: the members that matter stand at its beginning.
    private static let lookedThrough = 8192

    /// The text of a member of a flat JSON object, found without reading the rest.
    static func member(_ name: String, _ value: [UInt8]?) -> String? {
        guard let value, value.count <= lookedThrough || value.first == UInt8(ascii: "{") else { return nil }
        let mark = Array("\"\(name)\":\"".utf8)
        return value.prefix(lookedThrough).withUnsafeBytes { bytes in
            var place = 0
            while place + mark.count <= bytes.count {
                // Most places end here; a slice is made of the others only.
                if bytes[place] == mark[0], bytes[place..<(place + mark.count)].elementsEqual(mark) {
                    let rest = bytes[(place + mark.count)...]
                    return rest.firstIndex(of: mark[0]).map { String(decoding: rest[..<$0], as: UTF8.self) }
                }
                place += 1
            }
            return nil
        }
    }
}
