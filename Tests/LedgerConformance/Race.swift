import Contract
import Ledger
import Scheduling

/// Workers that claim the same purchases at once, each by a connection and a partition of its own.
public enum Race {
    public static let purchases = 200

    /// Claims all purchases for one user, in an order and in batches of the worker's own. Each is granted to this user,
    /// or was granted to another one before.
    /// - Returns: How many grants this worker created.
    /// - Throws: ``Violation`` for any other result, or what the ledger throws.
    public static func claim(_ ledger: AnyLedger, worker: Int) throws -> Int {
        let partition = TopicPartition(topic: "receipts.submitted", partition: Int32(worker))
        let ownership = PartitionOwnership(partition: partition, generation: Generation(rawValue: Int64(worker)))
        _ = try ledger.takeOver([TakeOver(ownership: ownership, owner: "worker \(worker)", committed: nil)])
        var random = SplitMix64(seed: UInt64(worker))
        var waiting = (0..<purchases).shuffled(using: &random).map { decision($0, worker, ownership) }
        var created = 0
        // Each try of a batch decides at least one of its claims.
        for _ in 0..<purchases where !waiting.isEmpty {
            let batch = Array(waiting.prefix(Int.random(in: 1...20, using: &random)))
            waiting.removeFirst(batch.count)
            for (decision, result) in zip(batch, try ledger.write(batch)) {
                switch result {
                case .written(.granted(created: 1), _, _): created += 1
                case .written(.failed(reason: "owned_by_another_user"), _, _): break
                case .undecided: waiting.append(decision)
                case let other: throw Violation(description: "a result is \(other)")
                }
            }
        }
        try expect(waiting.count, 0, "claims without an end")
        return created
    }

    private static func decision(_ number: Int, _ worker: Int, _ ownership: PartitionOwnership) -> Decision {
        let submission = Submission(
            claimant: Claimant(
                submissionID: SubmissionID("\(worker):\(number)"), userID: UserID("player-\(worker)"),
                bundleID: Samples.app, orderID: nil, traceparent: nil), claim: .nothing,
            evidence: .transactionID("1"),
            origin: Origin(
                topic: ownership.partition.topic, partition: ownership.partition.partition, offset: Int64(number)),
            receivedAt: Samples.noon)
        // Some owe a call, so that both forms of a write meet.
        return Decision(
            subject: .submission(submission), source: .record(ownership),
            content: .grant([Samples.purchase(TransactionID("\(number + 1)"))], by: .serverAPI), attempts: 1,
            decidedAt: Samples.noon, owesCall: number % 5 == 0, tellsWaiting: false, repeats: .publish,
            doubtsNothingNew: false)
    }
}
