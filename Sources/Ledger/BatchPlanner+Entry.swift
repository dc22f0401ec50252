import Contract

extension BatchPlanner {
    enum State {
        case open
        case ended(DecisionResult)
        case concluded(Outcome, tell: [Telling])
    }

    struct Entry {
        /// Its index in the batch.
        let index: Int
        let decision: Decision
        var state = State.open
        /// Its answer, once ``readAnswers(_:)`` has it.
        var answer: Answer?
        /// The answer that it tries to add. If one is there, it is another user's repeat and is replaced. Its grant has
        /// the same information, and this failure would otherwise have no event.
        var newAnswer: Answer?
        /// Its grants in the order of the evidence, and whether each is in the ledger now by this batch.
        var grants: [Grant] = []
        var isNew: [Bool] = []
        /// Whether it has grants, or an answer, that only a later version can read.
        var hasLaterGrants = false
        var hasLaterAnswer = false
        /// The copy that it asks for, of a grant whose service has not said yes.
        var owedCopy: NewOutboxRow?
        /// Purchases that the rows of its record pass over. Rows that are there already count again, because the reply
        /// that told of them may be lost.
        var passesOver: [PassedOver.Reason: Int] = [:]
        /// The row that waits for the same claim already, by another record.
        var waiting: WaitingRow?
        /// Whether the ledger has purchases of its app, which the decision calls unknown.
        var isAppOurs = false
        private var known: ClaimDigest?

        init(_ index: Int, _ decision: Decision) {
            self.index = index
            self.decision = decision
        }

        var isOpen: Bool { if case .open = state { true } else { false } }
        var claimant: Claimant { decision.claimant }
        var waits: Bool { if case .wait = decision.content { true } else { false } }
        /// Whether its user has an answer to it that is no grant of its own.
        var isAnswered: Bool { answer?.claimant.userID == claimant.userID }
        /// A person has ended this id for its user: no other evidence under it is granted. They may have given by hand,
        /// and the purchase would be given twice.
        var isAbandoned: Bool {
            guard case .failed(let failure) = answer else { return false }
            return failure.reason == FailureReason.abandonedByOperator.rawValue && isAnswered
        }
        var isLeased: Bool { if case .row = decision.source { true } else { false } }

        /// The rows in its way are a later version's. A malformed submission has no evidence to be held with.
        mutating func end(forLaterVersion what: String) {
            let detail = "A later version wrote \(what), and this one cannot read it."
            state =
                switch decision.subject {
                case .submission: .ended(.toBeHeld(.laterVersion, detail: detail))
                case .malformed: .ended(.refused(detail: detail))
                }
        }

        /// Computed once, and only where a row needs it.
        mutating func digest() -> ClaimDigest {
            if let known { return known }
            let digest =
                switch decision.subject {
                case .submission(let submission): ClaimDigest(of: submission)
                case .malformed(let malformed): malformed.digest
                }
            known = digest
            return digest
        }
    }
}
