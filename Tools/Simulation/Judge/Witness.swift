import Contract
import Ledger
import LedgerModel

/// Sees what anybody outside could see, as it happens: records, events, calls, offsets and rows. It knows nothing of
/// the cores' inner states, and judges at once whatever it can.
final class Witness {
    let script: Script
    var violations: [Violation] = []
    /// Events by their ids, in the order in which they were seen first.
    private(set) var events: [SeenEvent] = []
    private var byID: [EventID: SeenEvent] = [:]
    private(set) var toldGrants: Set<GrantReference> = []
    private(set) var toldFailures: Set<SubmissionKey> = []
    /// When the first grant of a submission and its user was committed.
    private var firstGrants: [SubmissionKey: [UserID: Int64]] = [:]
    /// Submissions that were told to wait.
    private(set) var toldPending: Set<SubmissionKey> = []
    /// A worker has found the outbox full: pending events that the broker does not take then go.
    var wasOutboxFull = false
    private var pendingByID: [EventID: Event] = [:]
    private var quarantined: Set<Origin> = []
    /// Workers that ended by chance while a record was marked as being checked.
    private var ends: [Origin: Int] = [:]
    /// When each record was produced first; its place is `script.records`' index.
    private(set) var producedAt: [Int: Int64] = [:]
    /// Grants that fulfilment services said yes to.
    private var called: Set<GrantReference> = []
    var calls: [CallerKey: SeenCalls] = [:]
    /// Submissions that a configuration held when it was mended, and the moment of that.
    var mended: (at: Int64, held: [SubmissionKey])?
    private(set) var abandonments: [SubmissionKey: Int64] = [:]
    /// The first event that told of a submission.
    private(set) var answeredAt: [SubmissionKey: Int64] = [:]
    /// A take-over that came late, because members joined one after the other, cost a worker a partition for a while.
    var hasLostOwnership = false
    /// Offsets below which everything was seen to be complete, by partition.
    private var completeBefore: [Int: Int64] = [:]
    private let claims: [SubmissionKey: [ScriptedClaim]]
    private var digests: [Int: ClaimDigest] = [:]
    /// Ownerships that began since the topic was made.
    private var ofThisTopic: Set<PartitionOwnership> = []
    /// Records that a ledger knew before it was lost, and that nobody reads again.
    private var forgotten: Set<Int> = []

    init(script: Script) {
        self.script = script
        claims = Dictionary(grouping: script.claims, by: \.claimant.submissionKey)
    }

    func fail(_ promise: Violation.Promise, _ detail: @autoclosure () -> String) {
        violations.append(Violation(promise, detail()))
    }

    func produced(_ number: Int, at moment: Int64) {
        if producedAt[number] == nil { producedAt[number] = moment }
    }

    /// A worker says that the ledger refuses a decision's data.
    func refused(_ origin: Origin, _ detail: String, _ options: SwarmOptions) {
        if options.refusals == 0 { fail(.stopped, "\(origin) refused: \(detail)") }
    }

    func endedWorker(_ origin: Origin) { ends[origin, default: 0] += 1 }

    func abandoned(_ key: SubmissionKey, at moment: Int64) { abandonments[key] = moment }

    func called(_ grant: Grant) { called.insert(grant.reference) }
    func wasCalled(_ grant: Grant) -> Bool { called.contains(grant.reference) }

    func isLarge(_ event: Event) -> Bool {
        guard let value = event.value, event.topic == .quarantined else { return false }
        let number = SimulatedApple.number(of: value)
        return script.records.indices.contains(number) && script.records[number].isLarge
    }

    // MARK: Events

    func published(_ event: Event, at moment: Int64, _ world: World) {
        guard event.topic != .pending else { return pending(event, world) }
        if event.topic == .quarantined { demandWhole(event, world) }
        if let seen = byID[event.id], seen.topic == event.topic {
            answered(event, seen, at: moment, world)
            if event.topic == .quarantined { return copied(event, seen) }
            let isRepeat = SeenEvent.isRepeat(event)
            if !isRepeat { seen.isTold = true }
            let copy = isRepeat ? SeenEvent.withoutMark(event) : event
            guard seen.bytes != copy else { return }
            guard world.options.forgets else { return fail(.copies, "\(seen.id) was \(seen.bytes), is \(copy)") }
            // A durable purchase may be granted anew under another transaction of it.
            if let reference = SeenEvent(copy).reference { toldGrants.insert(reference) }
            return
        }
        let seen = SeenEvent(event)
        seen.isTold = !SeenEvent.isRepeat(event)
        events.append(seen)
        byID[event.id] = seen
        answered(event, seen, at: moment, world)
        switch seen.topic {
        case .granted: granted(seen, world)
        case .failed: failed(seen, world)
        case .quarantined: quarantined(seen, world)
        case .pending: break
        case .submitted: fail(.rows, "an event on the input topic")
        }
    }

    /// A submission gets a pending event, which answers nothing.
    private func pending(_ event: Event, _ world: World) {
        if let before = pendingByID.updateValue(event, forKey: event.id), before != event {
            fail(.copies, "\(event.id) was \(before), is \(event)")
        }
        let seen = SeenEvent(event)
        guard claimed(by: seen.submission).contains(where: { $0.claimant.userID == seen.userID }) else {
            return fail(.rows, "\(seen.submission) of \(seen.userID) was told to wait, and nobody sent it")
        }
        toldPending.insert(seen.submission)
        // A ledger that was set back has lost it.
        guard isGranted(seen.submission, to: seen.userID, world), let end = firstGrants[seen.submission]?[seen.userID]
        else { return }
        // The publishing worker's clock is wrong. A grant counts from its commit: it may have waited for that.
        let latest = Timestamp(milliseconds: World.wallStart + end + World.clockError).rfc3339
        if latest < seen.pendingAt {
            fail(.rows, "\(seen.submission) was granted until \(latest), and told to wait at \(seen.pendingAt)")
        }
    }

    /// Whether the ledger has a grant of a submission for its user.
    func isGranted(_ submission: SubmissionKey, to user: UserID, _ world: World) -> Bool {
        world.ledger.tables.rows(of: submission).contains { $0.userID == user }
    }

    /// Decisions about submissions without a grant were carried out.
    func committed(_ decisions: [Decision], at moment: Int64, _ world: World) {
        for claimant in decisions.map(\.claimant) {
            guard isGranted(claimant.submissionKey, to: claimant.userID, world) else { continue }
            firstGrants[claimant.submissionKey, default: [:]][claimant.userID] = moment
        }
    }

    /// An event answers its submission, and a marked copy the one that repeats it.
    private func answered(_ event: Event, _ seen: SeenEvent, at moment: Int64, _ world: World) {
        var key = seen.submission
        if let mark = SeenEvent.mark(event) {
            key = SubmissionKey(bundleID: key.bundleID, submissionID: mark)
            demandMark(mark, seen, world)
        }
        if answeredAt[key] == nil { answeredAt[key] = moment }
    }

    /// Only a record that is too large for the topic has a stub. Records that the ledger refuses, or that an operator
    /// passed, have one, too.
    private func demandWhole(_ event: Event, _ world: World) {
        let options = world.options
        guard options.refusals + options.damagedBatches == 0, !options.replacesRecords,
            let label = QuarantineLabel(event.headers), label.stub != nil, let number = world.record(at: label.origin),
            !(options.quarantineRefusesLarge && script.records[number].isLarge)
        else { return }
        fail(.quarantined, "record \(number) at \(label.origin) has only a stub, and the topic takes it")
    }

    /// A stub stands for a record that the topic does not take: both have one id, and the stub has two headers more. A
    /// record that was quarantined unread, because its check seemed to end workers, may be read when it comes again.
    private func copied(_ event: Event, _ seen: SeenEvent) {
        if let origin = seen.origin { quarantined.insert(origin) }
        let (one, other) = (seen.bytes, event)
        let areWhole = one.value != nil && other.value != nil
        let isSame =
            zip(one.headers, other.headers).allSatisfy { $0 == $1 || $0.name == QuarantineHeader.reason.rawValue }
            && (!areWhole || one.value == other.value && one.headers.count == other.headers.count)
        if !isSame { fail(.copies, "\(seen.id) was \(one), is \(other)") }
    }

    private func granted(_ seen: SeenEvent, _ world: World) {
        guard let reference = seen.reference else {
            return fail(.rows, "an event without environment: \(seen.text)")
        }
        toldGrants.insert(reference)
        demandContent(seen)
        if seen.bundleID == Script.calling, !called.contains(reference), !world.options.configurationsDiffer {
            fail(.calledFirst, "\(reference) was told before its call")
        }
        guard !world.options.forgets else { return }
        guard let row = world.ledger.tables.row(of: reference) else {
            return fail(.rows, "\(reference) was told, and no row tells of it")
        }
        if row.userID != seen.userID || row.submissionID != seen.submissionID {
            fail(.rows, "\(reference) was told of \(seen.userID), its row is \(row.userID)'s")
        }
    }

    private func failed(_ seen: SeenEvent, _ world: World) {
        let key = seen.submission
        toldFailures.insert(key)
        guard !world.options.forgets else { return }
        guard case .failed(let failure) = world.ledger.tables.answer(key) else {
            return fail(.rows, "\(key) was told failed, and no row tells of it")
        }
        if failure.claimant.userID != seen.userID || failure.reason != seen.reason {
            fail(.rows, "\(key) was told \(seen.reason), its row says \(failure.reason)")
        }
    }

    private func quarantined(_ seen: SeenEvent, _ world: World) {
        guard let origin = seen.origin, let number = world.record(at: origin) else {
            return world.options.replacesRecords ? () : fail(.quarantined, "a quarantined record without an origin")
        }
        quarantined.insert(origin)
        if case .unreadable = script.records[number].content { return }
        guard !script.records[number].endsWorkers else { return }
        // With its origin, a record of the topic before may be told late.
        guard world.options.replacesRecords || mayBeSuspect(origin) else {
            return fail(.quarantined, "record \(number) at \(origin) can be read")
        }
        // It is left to people. A stub has no value.
        if seen.bytes.value.map(SimulatedApple.number(of:)) ?? number == number { forgotten.insert(number) }
    }

    /// Whether a record that ends no worker may be quarantined: another one at its place ended workers, or five of them
    /// ended by chance.
    private func mayBeSuspect(_ origin: Origin) -> Bool { ends[origin] ?? 0 >= 5 }

    // MARK: Offsets

    /// The topic was made anew: its offsets say nothing about those before.
    func forgetOffsets() {
        completeBefore = [:]
        ofThisTopic = []
        quarantined = []
    }

    /// A partition lost its end.
    /// - Parameter isOwnerBelow: whether its owner has read none of the lost records, and goes on.
    func cut(_ partition: Int, at end: Int64, isOwnerBelow: Bool) {
        completeBefore[partition] = min(completeBefore[partition] ?? 0, end)
        if !isOwnerBelow { ofThisTopic = ofThisTopic.filter { $0.partition.partition != partition } }
        quarantined = quarantined.filter { $0.partition != partition || $0.offset < end }
    }

    func takesOver(_ ownership: PartitionOwnership) { ofThisTopic.insert(ownership) }

    /// An operator accepted another ledger: records that the group has passed are not read again.
    func accepted(_ numbers: [Int]) { forgotten.formUnion(numbers) }

    /// Whether a record of a claim is still to be granted, or was.
    func isOwedToAnybody(_ claim: ScriptedClaim) -> Bool {
        script.records.contains { record in
            guard case .claim(let other) = record.content, other.number == claim.number else { return false }
            return !record.endsWorkers && !forgotten.contains(record.number)
        }
    }

    /// A worker writes in the ledger how far partitions are complete; asked before that is carried out.
    func checkpoints(_ checkpoints: [OffsetCheckpoint], _ world: World) {
        for checkpoint in checkpoints
        where ofThisTopic.contains(checkpoint.ownership) && world.ledger.tables.owns(checkpoint.ownership) {
            guard let next = checkpoint.next else { continue }
            let partition = Int(checkpoint.ownership.partition.partition)
            let from = world.ledger.tables.next(of: checkpoint.ownership.partition) ?? 0
            demandComplete(partition, from..<max(from, next), world, "checkpoint \(next)")
        }
    }

    /// A worker that has not noticed yet that a partition lost its end may commit its former checkpoint.
    func commits(_ partition: Int, from: Int64, to next: Int64, _ world: World) {
        let isOfThisTopic = ofThisTopic.contains {
            $0.partition.partition == partition && world.ledger.tables.owns($0)
        }
        guard !world.options.forgets, isOfThisTopic else { return }
        demandComplete(partition, from..<max(from, next), world, "commits \(next)")
    }

    /// A worker begins to read a partition.
    func starts(_ partition: Int, at position: Int64, _ world: World) {
        // A complete record stays complete unless the ledger was set back.
        let from = !world.options.forgets ? completeBefore[partition] ?? 0 : 0
        demandComplete(partition, min(from, position)..<position, world, "starts at \(position)")
    }

    private func demandComplete(_ partition: Int, _ offsets: Range<Int64>, _ world: World, _ what: String) {
        for offset in offsets {
            let origin = Origin(topic: Script.topic, partition: Int32(partition), offset: offset)
            guard let number = world.record(at: origin) else {
                if world.isHole(origin) { continue }
                return fail(.offsets, "\(origin) is passed and was never produced")
            }
            guard !forgotten.contains(number) else { continue }
            if let lack = lack(of: number, at: origin, world) {
                fail(.offsets, "\(what), and record \(number) at \(origin) is not complete: \(lack)")
            }
        }
        let known = completeBefore[partition] ?? 0
        if offsets.lowerBound <= known { completeBefore[partition] = max(known, offsets.upperBound) }
    }

    // MARK: Completeness

    /// Why a record is not complete; nil if it is: its outcome is durable, and told or owed.
    private func lack(of number: Int, at origin: Origin, _ world: World) -> String? {
        func isQuarantined() -> Bool {
            quarantined.contains(origin) || world.ledger.tables.owesStub(of: origin)
        }
        if script.records[number].endsWorkers || mayBeSuspect(origin), isQuarantined() { return nil }
        switch script.records[number].content {
        case .unreadable:
            return isQuarantined() ? nil : "not on the quarantine topic"
        case .malformed(let claimant):
            return lack(of: claimant, at: origin, nil, tellsRepeats: true, world)
        case .claim(let claim):
            return lack(
                of: claim.claimant, at: origin, claim,
                tellsRepeats: claim.repeats == .publish && !world.options.configurationsDiffer, world)
        }
    }

    private func lack(
        of claimant: Claimant, at origin: Origin, _ claim: ScriptedClaim?, tellsRepeats: Bool, _ world: World
    ) -> String? {
        let tables = world.ledger.tables
        let key = claimant.submissionKey
        guard !isAmbiguous(key, world.options) else { return nil }
        if let claim, tables.hasWaiting, tables.waits(digest(of: claim)) {
            // A copy of it may have an answer, which stands for its record as well.
            if wasOutboxFull || toldPending.contains(key) || tables.isOwed(.pending(digest(of: claim))) { return nil }
            // A submission with an answer gets no pending event, and the answer's own record publishes the answer.
            if tables.rows(of: key).contains(where: { $0.userID == claimant.userID }) { return nil }
            if tables.answer(key)?.claimant.userID == claimant.userID { return nil }
        }
        let grants = tables.rows(of: key).filter { $0.userID == claimant.userID }
        let own = grants.filter { $0.origin == origin }
        if !own.isEmpty { return own.lazy.compactMap { self.lack(of: $0, world) }.first }
        // The same submission came in other records, which publish their grants: this one publishes a repeat at most.
        if !grants.isEmpty, !tellsRepeats || grants.contains(where: { lack(of: $0, world) == nil }) { return nil }
        switch tables.answer(key) {
        case .failed(let failure):
            // The same submission came in another record, which publishes its failure before it is complete.
            if failure.origin != origin, claim != nil { return nil }
            let isTold = toldFailures.contains(key) || tables.isOwed(.failed(key))
            // Of two contents under one id the other one may have failed.
            if contents(of: key) > 1, answeredAt[key] != nil || !tellsRepeats || isHeld(claim, world) { return nil }
            return isTold ? nil : "failed, and not told"
        case .repeated(let answer):
            guard let grant = tables.row(of: answer.grant) else { return "answered by a grant that is not there" }
            // The grant's own submission is told by its own record.
            guard tellsRepeats else { return nil }
            // Of two contents under one id the answer may be the other content's, whose own record publishes its grant.
            if contents(of: key) > 1, answeredAt[key] != nil, isHeld(claim, world) { return nil }
            return lack(of: grant, world)
        case nil:
            return grants.lazy.compactMap { self.lack(of: $0, world) }.first ?? "no outcome"
        }
    }

    /// Whether another submission's grant answers a claim.
    private func isHeld(_ claim: ScriptedClaim?, _ world: World) -> Bool {
        (claim?.purchases ?? []).contains { granted in
            let purchase = granted.purchase
            let reference = GrantReference(environment: purchase.environment, transactionID: purchase.transactionID)
            let row = world.ledger.tables.row(of: reference) ?? world.ledger.tables.row(of: granted.grantKey)
            return row.map { lack(of: $0, world) == nil } ?? false
        }
    }

    /// Why a grant is not told and not owed.
    private func lack(of grant: Grant, _ world: World) -> String? {
        if isTold(grant, world) || world.ledger.tables.isOwed(grant.reference) { return nil }
        return "\(grant.reference) is granted, and not told"
    }

    /// Whether a grant was told, or its record was deleted with the topic before. The producer sends a repeat then.
    func isTold(_ grant: Grant, _ world: World) -> Bool {
        if toldGrants.contains(grant.reference) { return true }
        guard world.options.replacesRecords else { return false }
        guard let number = world.record(at: grant.origin), case .claim(let claim) = script.records[number].content
        else {
            return true
        }
        return claim.claimant.submissionKey != grant.claimant.submissionKey
    }

    /// Different contents that came under one id.
    private func contents(of key: SubmissionKey) -> Int { claimed(by: key).count }

    func claimed(by key: SubmissionKey) -> [ScriptedClaim] { claims[key] ?? [] }

    /// Whether one content under an id may stand where the former topic had the other content: such a record is taken
    /// for a redelivery.
    func isAmbiguous(_ key: SubmissionKey, _ options: SwarmOptions) -> Bool {
        options.replacesRecords && contents(of: key) > 1
    }

    private func digest(of claim: ScriptedClaim) -> ClaimDigest {
        if let digest = digests[claim.number] { return digest }
        let origin = Origin(topic: Script.topic, partition: 0, offset: 0)
        let digest = ClaimDigest(of: claim.submission(at: origin, receivedAt: Timestamp(milliseconds: 0)))
        digests[claim.number] = digest
        return digest
    }
}
