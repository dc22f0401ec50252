import Contract
import Ledger

/// The batches that a worker writes, and the events of their results.
extension Witness {
    /// A batch holds each submission and transaction once: the ledger's refusal of one would hide the other.
    func writes(_ batch: [Decision]) {
        guard batch.count > 1 || batch.contains(where: \.hasSeveralPurchases) else { return }
        var transactions: Set<GrantReference> = []
        var submissions: Set<SubmissionKey> = []
        for decision in batch {
            if !submissions.insert(decision.claimant.submissionKey).inserted {
                fail(.batches, "\(decision.claimant.submissionKey) is there twice")
            }
            guard case .grant(let purchases, _) = decision.content else { continue }
            let references = purchases.map {
                GrantReference(environment: $0.purchase.environment, transactionID: $0.purchase.transactionID)
            }
            for reference in Set(references) {
                if !transactions.insert(reference).inserted { fail(.batches, "\(reference) is there twice") }
            }
        }
    }

    /// A worker gets a batch's result: it publishes the events of its own records in that turn.
    func heard(_ results: [DecisionResult], of batch: [Decision], tells: [Event], _ worker: String) {
        for (decision, result) in zip(batch, results) {
            guard case .record = decision.source, case .written(_, let events, _) = result else { continue }
            for event in events where !tells.contains(event.event) {
                fail(.told, "\(worker) wrote \(event.key), and does not tell it")
            }
        }
    }
}

extension Decision {
    fileprivate var hasSeveralPurchases: Bool {
        if case .grant(let purchases, _) = content { purchases.count > 1 } else { false }
    }
}
