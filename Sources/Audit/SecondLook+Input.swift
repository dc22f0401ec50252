import Contract
import Kafka
import Ledger

/// Records of the input topic that nothing tells of.
extension SecondLook {
    /// Most submissions that the ledger is asked about at once.
    private static let mostKeys = 100

    mutating func lookAtInput(_ suspicions: [Judge.Suspicion]) throws(AuditError) {
        var missed: [AuditKey: [(record: InputRecord, reading: SubmissionReading)]] = [:]
        let suspects = try records(of: suspicions, [.noOutcome, .notQuarantined]).map { suspect in
            (record: suspect.record, reading: SubmissionReading(suspect.record, now: now))
        }
        for first in stride(from: 0, to: suspects.count, by: Self.mostKeys) {
            let group = suspects[first..<min(first + Self.mostKeys, suspects.count)]
            let keys = Set(group.compactMap(\.reading.claimant?.submissionKey)).sorted()
            let found = try ledger.asking { ledger throws(LedgerError) in try ledger.records(of: keys) }
            let known = Set(zip(keys, found).filter { $1.isKnown }.map(\.0))
            for (record, reading) in group {
                if let key = reading.claimant?.submissionKey, known.contains(key) { continue }
                missed[AuditKey(record.origin, &bytes), default: []].append((record, reading))
            }
        }
        guard !missed.isEmpty else { return }
        let retained = try forgetQuarantined(&missed)
        let forgottenBefore = try forgottenBefore()
        var gone = 0
        for (record, reading) in missed.values.joined().sorted(by: { $0.record.origin < $1.record.origin }) {
            // Any record may be quarantined, whatever its content.
            if let retained, record.timestamp.map({ $0 < retained }) ?? true {
                gone += 1
            } else if case .unreadable(let reason) = reading {
                let stub = QuarantineStub(of: record, reason: reason.words)
                findings.add(Inconsistency(.quarantineUntold, place: record.origin, mend: .record(stub)))
            } else if let forgottenBefore, let time = record.timestamp, time < forgottenBefore {
                forgotten += 1
            } else {
                findings.add(
                    Inconsistency(.recordWithoutOutcome, claimant: reading.claimant, place: record.origin))
            }
        }
        guard gone > 0 else { return }
        unseen.append(
            Unseen(
                .removed, plan.names.name(of: .quarantined), count: gone,
                detail: "Quarantined copies of these may have left the topic again."))
    }

    /// Forgets the records that stand on the quarantine topic.
    /// - Returns: The time before which such a record may have left it again; nil for none.
    private func forgetQuarantined(
        _ missed: inout [AuditKey: [(record: InputRecord, reading: SubmissionReading)]]
    ) throws(AuditError) -> Timestamp? {
        guard let name = plan.names[.quarantined], !plan.blindTopics.contains(.quarantined) else {
            return Timestamp(milliseconds: .max)
        }
        var retained: Timestamp?
        var left = missed
        var scratch = AuditBytes()
        try topics.asking { () throws(KafkaError) in
            try topics.read(try topics.offsets(of: name).filter { !$0.value.isEmpty }) { _, records in
                for record in records {
                    guard let (origin, content) = record.quarantined else { continue }
                    left[AuditKey(origin, &scratch)]?.removeAll { $0.record.isMeant(by: content) }
                }
                return true
            }
            // Records may leave it while it is read. One that became empty since the first look may have lost any.
            let cut = try topics.offsets(of: name).filter { $0.value.lowerBound > 0 }
            let oldest = try topics.oldestTimes(of: cut)
            let times = cut.map { oldest[$0] ?? (plan.held[$0]?.lowerBound == $1.lowerBound ? nil : now) }
            retained = try topics.retained(of: name, times, now: now)
        }
        for stub in plan.owed.stubs { left[stub.key]?.removeAll { $0.record.isMeant(by: stub.digest) } }
        missed = left
        return retained
    }
}
