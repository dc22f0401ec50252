import Contract
public import Ledger
import Scheduling

/// Random calls on a ledger. The calls are the same for the same seed, as long as the ledger's answers are. Users,
/// transactions and submissions are few, so that they conflict often.
public struct RandomPlay {
    private var random: SplitMix64
    private var clock: Int64 = 0
    private var generation: Int64 = 1
    private var leases: [(submission: Submission, lease: RetryLease)] = []
    private var owed: [OutboxLease] = []

    /// Whether operators' calls are left out.
    private let isWorker: Bool

    public init(seed: UInt64, isWorker: Bool = false) {
        random = SplitMix64(seed: seed)
        self.isWorker = isWorker
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Makes one call.
    ///
    /// - Returns: The results, to be compared with another ledger's.
    public mutating func step(_ subject: ConformanceSubject) throws -> AnyHashable {
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
            return try ledger.knownOutcomes(of: origins)
        case 82..<87: return try ledger.lookUp([lookup(), lookup()])
        case 87..<91:
            let ownership = Samples.ownership(chance(80) ? generation : 0)
            let key = pick([OutboxKey.granted(reference(), repeatOf: nil), .failed(Samples.key(submission().id))])
            return try ledger.owe([OutboxEntry(ownership: ownership, key: key, delay: 5_000, stub: nil)])
        case 91..<94:
            return try ledger.renew(
                leases.map { LeaseRenewal($0.lease, takings: Int.random(in: 0...3, using: &random)) })
        case 94..<96 where !isWorker:
            let note = OperatorNote(actor: "kim", reason: "Random.", at: Samples.later(clock))
            let key = submission().claimant.submissionKey
            return chance(50)
                ? AnyHashable(try ledger.abandon(key, note)) : AnyHashable(try ledger.retryNow(key, note))
        case 96..<98:
            generation += 1
            return try ledger.takeOver([
                TakeOver(ownership: Samples.ownership(generation), owner: "worker", committed: nil)
            ])
        default:
            let checkpoints = [
                OffsetCheckpoint(ownership: Samples.ownership(generation), next: chance(20) ? nil : clock % 10)
            ]
            _ = try ledger.checkpoint(checkpoints)
            _ = try ledger.bind(to: Samples.group)
            let worker = WorkerSign(id: Int64.random(in: 1...4, using: &random), name: "worker", version: "1")
            if clock % 5 == 0 { try ledger.signOff(WorkerSign(id: worker.id % 4 + 1, name: "", version: "")) }
            return try ledger.measure(as: worker)
        }
    }

    // MARK: Calls

    private mutating func write(_ ledger: AnyLedger) throws -> AnyHashable { try ledger.write(batch()) }

    /// Decisions as workers write them together.
    public mutating func batch() -> [Decision] {
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
        return batch
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
        case 5..<7: content = .fail(Rejection(pick([.receiptNotAuthentic, .unknownProduct, .unknownApp]), "Said so."))
        case 7: content = .repeated(reference())
        default:
            content = .wait(
                RetryEntry(
                    cause: chance(80)
                        ? .retrying(.noAnswer, Samples.endpoint) : .held(pick([.unknownAnswer, .endsWorkers])),
                    detail: "Random.", delay: Int64.random(in: 0..<60_000, using: &random), history: AttemptHistory(),
                    doubt: nil, isSigned: chance(30),
                    purchases: (0..<pick([0, 1, 1, 2])).map { _ in named() }))
        }
        return Samples.decision(
            submission, content, lease: lease, generation: chance(95) ? generation : generation - 1, at: clock,
            owesCall: chance(20), tellsWaiting: chance(60), repeats: chance(80) ? .publish : .ignore, doubts: chance(30)
        )
    }

    private mutating func takeDue(_ ledger: AnyLedger) throws -> AnyHashable {
        let request = DueRequest(endpoint: chance(70) ? Samples.endpoint : nil, limit: 3, beforeDue: chance(30))
        let due = try ledger.takeDue([request], bytes: 300)
        leases += due.map { ($0.submission, $0.lease) }
        // A ledger's numbers are its own.
        return due.map { row in
            DueRetry(
                lease: RetryLease(key: row.lease.key, number: 0), submission: row.submission, attempts: row.attempts,
                cause: row.cause, history: row.history, doubt: row.doubt, takings: row.takings)
        }
    }

    private mutating func takeOutbox(_ ledger: AnyLedger) throws -> AnyHashable {
        let target = pick([OutboxTarget.topic(.granted), .topic(.failed), .topic(.pending), .service(Samples.app)])
        let items = try ledger.takeOutbox([OutboxRequest(target: target, limit: 3)])
        owed += items.map(\.lease)
        return items.map { item in
            OutboxItem(
                lease: OutboxLease(key: item.lease.key, step: item.lease.step, number: 0), attempts: item.attempts,
                work: item.work)
        }
    }

    private mutating func report(_ ledger: AnyLedger) throws -> AnyHashable {
        guard !owed.isEmpty else { return 0 }
        let lease = owed.remove(at: Int.random(in: 0..<owed.count, using: &random))
        switch (lease.step, chance(70)) {
        case (.call, false):
            let answer = ServiceAnswer(isRefusal: chance(50), pick(["HTTP 422", "no whole answer in time"]))
            try ledger.report([.postponed(lease, delay: 10_000, after: pick([.notMade, .answered(answer)]))])
        case (.publish, false): try ledger.report([.postponed(lease, delay: 10_000)])
        case (.call, true): try ledger.report([.called(lease)])
        case (.publish, true): try ledger.report([.published(lease)])
        }
        return 1
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
        var granted = bare()
        if chance(20) {
            let reason = pick([PassedOver.Reason.productNotConfigured, .partialRefund, .transactionRevoked])
            granted.passedOver = PassedOver(
                [PassedOver.Entry("99", "com.example.new", reason)],
                holding: reason != .transactionRevoked && chance(50) ? [PassedOver.Holding(reason, named())] : [])
        }
        return granted
    }

    private mutating func named() -> NamedPurchase {
        let purchase = bare()
        return NamedPurchase(purchase.purchase, as: purchase.type)
    }

    private mutating func bare() -> GrantablePurchase {
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
        var names = content.waitingPurchases
        if case .grant(let purchases, _) = content {
            names += purchases.map { NamedPurchase($0.purchase, as: $0.type) }
        }
        return Set(names.flatMap { [$0.key.text, "\($0.key.environment) \($0.transactionID)"] })
    }

    fileprivate func uses(_ text: String) -> Bool { uniqueTexts.contains(text) }
}

/// Everything that people see of a ledger, to be compared with another ledger's.
public struct LedgerContent: Hashable {
    private let grants: Set<Grant>
    private let submissions: Set<SubmissionRow>
    private let records: Set<SubmissionRecord>
    private let owed: Set<OutboxRow>

    public init(of ledger: AnyLedger) throws {
        grants = Set(try ledger.grants(GrantQuery(limit: 10_000)).map(\.grant))
        owed = Set(try ledger.outbox(limit: 10_000))
        var rows: [SubmissionRow] = []
        for state in SubmissionState.allCases {
            rows += try ledger.submissions(SubmissionQuery(state: state, limit: 10_000))
        }
        // Sequence numbers are a ledger's own: a rolled-back row leaves a gap in one ledger and none in another.
        for index in rows.indices { rows[index].sequence = 0 }
        submissions = Set(rows)
        records = Set(
            try Set(rows.map(\.claimant.submissionKey)).map { key in
                let record = try ledger.submission(key)
                return SubmissionRecord(
                    grants: record.grants.map { GrantRow(sequence: 0, grant: $0.grant) }, answer: record.answer,
                    waiting: record.waiting, owed: record.owed, later: record.later)
            })
    }
}
