import Contract
import Ledger
import LedgerModel

/// Sees what anybody outside could see, as it happens: records, events, calls, offsets and rows. It knows nothing of the cores'
/// inner life, and judges at once what can be judged at once.
final class Witness {
    let script: Script
    var violations: [Violation] = []
    var events: [SeenEvent] = []
    private(set) var firstByID: [EventID: Int] = [:]
    /// When each record was produced; its place is `script.records`' index.
    private(set) var producedAt: [Int: Int64] = [:]
    /// Grants that fulfilment services said yes to.
    private(set) var called: Set<GrantReference> = []
    private(set) var abandonments: [SubmissionKey: Int64] = [:]
    /// The first event that told of a submission.
    private(set) var answeredAt: [SubmissionKey: Int64] = [:]

    init(script: Script) { self.script = script }

    private func fail(_ promise: Violation.Promise, _ detail: @autoclosure () -> String) {
        violations.append(Violation(promise, detail()))
    }

    func produced(_ number: Int, at moment: Int64) { producedAt[number] = moment }

    /// A worker says that the ledger refuses a decision's data; nothing in a script is refused.
    func refused(_ origin: Origin, _ detail: String) { fail(.stopped, "\(origin) refused: \(detail)") }

    func abandoned(_ key: SubmissionKey, at moment: Int64) { abandonments[key] = moment }

    func called(_ grant: Grant, at moment: Int64) { called.insert(grant.reference) }

    func isLarge(_ event: Event) -> Bool {
        guard let value = event.value, event.topic == .quarantined else { return false }
        let number = value.reduce(0) { $0 << 8 | Int($1) }
        return script.records.indices.contains(number) && script.records[number].isLarge
    }

    // MARK: Events

    func published(_ event: Event, at moment: Int64, _ world: World) {
        let seen = SeenEvent(event, at: moment)
        events.append(seen)
        if let first = firstByID[seen.id] {
            // A stub stands for a record that the topic does not take: both have one id.
            if events[first].bytes != seen.bytes, world.options.setBacks == 0, seen.topic != .quarantined {
                fail(.copies, "\(seen.id) was \(events[first].text), is \(seen.text)")
            }
        } else {
            firstByID[seen.id] = events.count - 1
        }
        switch seen.topic {
        case .granted: granted(seen, world)
        case .failed: failed(seen, world)
        case .quarantined: quarantined(seen, world)
        case .submitted: fail(.rows, "an event on the input topic")
        }
    }

    private func granted(_ seen: SeenEvent, _ world: World) {
        guard let environment = seen.environment else {
            return fail(.rows, "an event without environment: \(seen.text)")
        }
        let reference = GrantReference(environment: environment, transactionID: seen.transactionID)
        let key = SubmissionKey(bundleID: seen.bundleID, submissionID: seen.submissionID)
        if answeredAt[key] == nil { answeredAt[key] = seen.at }
        if seen.bundleID == "app.calling", !called.contains(reference) {
            fail(.calledFirst, "\(reference) was told before its call")
        }
        guard world.options.setBacks == 0 else { return }
        guard let row = world.ledger.tables.row(of: reference) else {
            return fail(.rows, "\(reference) was told, and no row tells of it")
        }
        if row.userID != seen.userID || row.submissionID != seen.submissionID {
            fail(.rows, "\(reference) was told of \(seen.userID), its row is \(row.userID)'s")
        }
    }

    private func failed(_ seen: SeenEvent, _ world: World) {
        let key = SubmissionKey(bundleID: seen.bundleID, submissionID: seen.submissionID)
        if answeredAt[key] == nil { answeredAt[key] = seen.at }
        guard world.options.setBacks == 0 else { return }
        guard case .failed(let failure) = world.ledger.tables.answer(key) else {
            return fail(.rows, "\(key) was told failed, and no row tells of it")
        }
        if failure.claimant.userID != seen.userID || failure.reason != seen.reason {
            fail(.rows, "\(key) was told \(seen.reason), its row says \(failure.reason)")
        }
    }

    private func quarantined(_ seen: SeenEvent, _ world: World) {
        guard let origin = seen.origin, let number = world.record(at: origin) else {
            return fail(.quarantined, "a quarantined record without an origin")
        }
        guard case .unreadable = script.records[number].content else {
            return fail(.quarantined, "record \(number) at \(origin) can be read")
        }
    }

    // MARK: Offsets

    /// A worker notes in the ledger how far partitions are complete; asked before the note is carried out.
    func notes(_ notes: [OffsetNote], _ world: World) {
        for note in notes where world.ledger.tables.owns(note.ownership) {
            let partition = Int(note.ownership.partition.partition)
            let from = world.ledger.tables.next(of: note.ownership.partition) ?? 0
            guard from < note.next else { continue }
            for offset in from..<note.next { demandComplete(partition, offset, world, "noted \(note.next)") }
        }
    }

    func committed(_ partition: Int, from: Int64, to next: Int64, _ world: World) {
        guard world.options.setBacks == 0, from < next else { return }
        for offset in from..<next { demandComplete(partition, offset, world, "committed \(next)") }
    }

    /// A worker begins to read a partition.
    func starts(_ partition: Int, at position: Int64, _ world: World) {
        for offset in 0..<position { demandComplete(partition, offset, world, "starts at \(position)") }
    }

    private func demandComplete(_ partition: Int, _ offset: Int64, _ world: World, _ what: String) {
        let origin = Origin(topic: Script.topic, partition: Int32(partition), offset: offset)
        guard let number = world.record(at: origin) else {
            return fail(.offsets, "\(origin) is passed and was never produced")
        }
        if let lack = world.lack(of: number, at: origin) {
            fail(.offsets, "\(what), and record \(number) at \(origin) is not complete: \(lack)")
        }
    }
}

extension World {
    func record(at origin: Origin) -> Int? {
        let records = kafka.partitions[Int(origin.partition)].records
        return origin.offset >= 0 && origin.offset < records.count ? records[Int(origin.offset)] : nil
    }

    /// Why a record is not complete; nil if it is: its outcome is durable, and told or owed.
    func lack(of number: Int, at origin: Origin) -> String? {
        switch script.records[number].content {
        case .unreadable:
            let isThere =
                witness.events.contains { $0.topic == .quarantined && $0.origin == origin }
                || ledger.tables.isOwed(.quarantined(origin))
            return isThere ? nil : "not on the quarantine topic"
        case .malformed(let claimant):
            return lack(of: claimant, at: origin, digest: nil, tellsRepeats: true)
        case .claim(let claim):
            let submission = claim.submission(at: origin, receivedAt: Timestamp(milliseconds: 0))
            return lack(
                of: claim.claimant, at: origin, digest: submission, tellsRepeats: claim.repeats == .publish)
        }
    }

    private func lack(
        of claimant: Claimant, at origin: Origin, digest submission: Submission?, tellsRepeats: Bool
    ) -> String? {
        let key = claimant.submissionKey
        if let submission, ledger.tables.waits(ClaimDigest(of: submission)) { return nil }
        let grants = ledger.tables.rows(of: key).filter { $0.userID == claimant.userID }
        let own = grants.filter { $0.origin == origin }
        if !own.isEmpty { return own.lazy.compactMap { self.lack(of: $0) }.first }
        // The same submission came in other records, which tell of their grants: here at most a repeat is told.
        if !grants.isEmpty, !tellsRepeats || grants.contains(where: { lack(of: $0) == nil }) { return nil }
        switch ledger.tables.answer(key) {
        case .failed:
            let id = FailedEvent.id(bundleID: key.bundleID, submissionID: key.submissionID)
            let isTold = witness.firstByID[id] != nil || ledger.tables.isOwed(.failed(key.bundleID, key.submissionID))
            return isTold ? nil : "failed, and not told"
        case .repeated(let answer):
            guard let grant = ledger.tables.row(of: answer.grant) else {
                return "answered by a grant that is not there"
            }
            // The grant's own submission is told by its own record.
            guard tellsRepeats else { return nil }
            return lack(of: grant)
        case nil:
            return grants.lazy.compactMap { self.lack(of: $0) }.first ?? "no outcome"
        }
    }

    /// Why a grant is not told and not owed.
    private func lack(of grant: Grant) -> String? {
        let id = GrantedEvent.id(of: grant.key.grantID)
        if witness.firstByID[id] != nil || ledger.tables.isOwed(grant.reference) { return nil }
        return "\(grant.reference) is granted, and not told"
    }
}
