import Contract
import Ledger

/// Random numbers that a seed decides (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}

/// Random calls on a ledger, the same ones for the same seed as long as the ledger answers the same: few users, transactions and
/// submissions, so that everything meets everything.
public struct RandomPlay {
    private var random: SeededGenerator
    private var clock: Int64 = 0
    private var generation: Int64 = 1
    private var leases: [(submission: Submission, lease: RetryLease)] = []
    private var owed: [OutboxLease] = []

    public init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Makes one call.
    ///
    /// - Returns: What was called and answered, in words, to be compared with another ledger's.
    public mutating func step(_ subject: ConformanceSubject) throws -> String {
        let ledger = chance(50) ? subject.ledger : subject.other
        clock += Int64.random(in: 0..<20_000, using: &random)
        subject.setClock(Samples.later(clock))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: return try write(ledger)
        case 50..<60: return try takeDue(ledger)
        case 60..<70: return try takeOutbox(ledger)
        case 70..<76: return try report(ledger)
        case 76..<82:
            let origins = (0..<10).map { Samples.origin(Int64($0)) }
            return "known \(try ledger.knownOutcomes(of: origins))"
        case 82..<87: return "look up \(try ledger.lookUp([lookup(), lookup()]))"
        case 87..<91:
            let ownership = Samples.ownership(chance(80) ? generation : 0)
            let key = pick([OutboxKey.granted(reference(), repeatOf: nil), .failed(Samples.app, submission().id)])
            return "owe \(try ledger.owe([OutboxEntry(ownership: ownership, key: key, delay: 5_000)]))"
        case 91..<94:
            let renewed = try ledger.renew(leases.map(\.lease))
            return "renew \(renewed)"
        case 94..<96:
            let note = OperatorNote(actor: "kim", reason: "Random.", at: Samples.later(clock))
            let key = submission().claimant.submissionKey
            return chance(50)
                ? "abandon \(try ledger.abandon(key, note))" : "retry now \(try ledger.retryNow(key, note))"
        case 96..<98:
            generation += 1
            let taken = try ledger.takeOver([
                TakeOver(ownership: Samples.ownership(generation), owner: "worker", committed: nil)
            ])
            return "take over \(taken)"
        default:
            let notes = [OffsetNote(ownership: Samples.ownership(generation), next: clock % 10)]
            return "note \(try ledger.note(notes)), \(try ledger.measure())"
        }
    }

    // MARK: Calls

    private mutating func write(_ ledger: AnyLedger) throws -> String {
        var batch: [Decision] = []
        var names: Set<SubmissionKey> = []
        var taken: Set<String> = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let decision = decision()
            // A batch holds each submission, transaction and key once.
            guard names.insert(decision.claimant.submissionKey).inserted, !taken.contains(where: decision.uses) else {
                continue
            }
            taken.formUnion(decision.uniqueTexts)
            batch.append(decision)
        }
        let results = try ledger.write(batch)
        return "write \(results)"
    }

    private mutating func decision() -> Decision {
        var lease: RetryLease?
        var submission = submission()
        if !leases.isEmpty, chance(30) {
            let leased = leases.remove(at: Int.random(in: 0..<leases.count, using: &random))
            (submission, lease) = (leased.submission, leased.lease)
        }
        let content: Decision.Content
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5: content = .grant((0..<pick([1, 1, 1, 2, 3])).map { _ in purchase() }, by: .verifyReceipt)
        case 5..<7: content = .fail(Rejection(pick([.receiptNotAuthentic, .unknownProduct]), "Said so."))
        case 7: content = .repeated(reference())
        default:
            content = .retry(
                RetryEntry(
                    cause: chance(80) ? .retrying(.noAnswer, Samples.endpoint) : .held(.unknownAnswer),
                    detail: "Random.", delay: Int64.random(in: 0..<60_000, using: &random)))
        }
        return Samples.decision(
            submission, content, lease: lease, generation: chance(95) ? generation : generation - 1, at: clock,
            owesCall: chance(20), repeats: chance(80) ? .publish : .ignore, doubts: chance(30))
    }

    private mutating func takeDue(_ ledger: AnyLedger) throws -> String {
        let request = DueRequest(endpoint: chance(70) ? Samples.endpoint : nil, limit: 3, beforeDue: chance(30))
        let due = try ledger.takeDue([request], bytes: 300)
        leases += due.map { ($0.submission, $0.lease) }
        return "due \(due.map { ($0.lease, $0.submission.id, $0.attempts, $0.cause, $0.history, $0.doubt) })"
    }

    private mutating func takeOutbox(_ ledger: AnyLedger) throws -> String {
        let target = pick([OutboxTarget.topic(.granted), .topic(.failed), .service(Samples.app)])
        let items = try ledger.takeOutbox([OutboxRequest(target: target, limit: 3)])
        owed += items.map(\.lease)
        return "outbox \(items.map { ($0.lease, $0.attempts, $0.called, $0.published) })"
    }

    private mutating func report(_ ledger: AnyLedger) throws -> String {
        guard !owed.isEmpty else { return "nothing to report" }
        let lease = owed.remove(at: Int.random(in: 0..<owed.count, using: &random))
        switch (lease.step, chance(70)) {
        case (_, false): try ledger.report([.postponed(lease, delay: 10_000)])
        case (.call, true): try ledger.report([.called(lease)])
        case (.publish, true): try ledger.report([.published(lease)])
        }
        return "report"
    }

    // MARK: Values

    private mutating func submission() -> Submission {
        let number = Int64.random(in: 0..<10, using: &random)
        return Samples.submission(
            SubmissionID("s\(number % 7)"), user: pick(["player-1", "player-1", "player-2"]),
            app: chance(85) ? Samples.app : "com.example.other", order: pick([nil, "o1", "o2"]), offset: number,
            receipt: pick(["cmVjZWlwdA==", "b3RoZXI="]), traceparent: pick([nil, "00-\(number)"]))
    }

    private mutating func purchase() -> GrantablePurchase {
        let id = Int.random(in: 1...9, using: &random)
        return Samples.purchase(
            TransactionID("\(id)"),
            original: chance(70) ? nil : TransactionID("\(Int.random(in: 1...9, using: &random))"),
            lineItem: chance(80) ? nil : "77",
            product: Samples.gems(pick(ProductType.allCases), pick([100, 120])),
            environment: chance(80) ? .production : .sandbox, at: -Int64.random(in: 0..<5, using: &random))
    }

    private mutating func reference() -> GrantReference {
        Samples.reference(
            TransactionID("\(Int.random(in: 1...9, using: &random))"), chance(80) ? .production : .sandbox)
    }

    private mutating func lookup() -> GrantLookup {
        Samples.lookup(
            reference().transactionID, user: pick(["player-1", "player-2"]), environment: pick([nil, .sandbox]),
            order: pick([nil, "o1"]), product: pick([nil, "com.example.gems"]))
    }
}

extension Decision {
    fileprivate var uniqueTexts: Set<String> {
        guard case .grant(let purchases, _) = content else { return [] }
        return Set(purchases.flatMap { [$0.grantKey.text, "\($0.purchase.environment) \($0.purchase.transactionID)"] })
    }

    fileprivate func uses(_ text: String) -> Bool { uniqueTexts.contains(text) }
}

extension LedgerConformance {
    /// All that people see of a ledger, in words, to be compared with another one's.
    public static func content(of ledger: AnyLedger) throws -> [String] {
        var lines = try ledger.grants(GrantQuery(limit: 10_000)).map { "grant \($0.grant.described)" }
        for state in SubmissionState.allCases where state != .granted {
            for row in try ledger.submissions(SubmissionQuery(state: state, limit: 10_000)) {
                lines.append("\(state) \(row.claimant) \(row.origin) \(row.at) \(row.cause ?? "") \(row.attempts)")
                let record = try ledger.submission(row.claimant.submissionKey)
                lines += record.waiting.map { "\($0.key) \($0.dueAt) \($0.isLeased) \($0.entry)" }
            }
        }
        lines += try ledger.outbox(limit: 10_000).map { "owed \($0)" }
        return lines.sorted()
    }
}

extension Grant {
    /// Everything but its place in memory.
    fileprivate var described: String {
        "\(key) \(reference) \(originalTransactionID) \(product) \(quantity) \(claimant) \(origin) \(grantedAt) \(attempts)"
    }
}
