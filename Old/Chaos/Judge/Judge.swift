import Ledger
import Purchases

/// Compares what was submitted, what the ledger says, what an inventory service was told and what came on the topics. Pure: it shares nothing with those who
/// submit and those who do harm but the truth about each claim.
struct Judge {
    let submitted: [Submitted]
    let ledger: LedgerContents
    let topics: TopicIndex
    let told: ToldGrants

    /// Grants of each transaction; more than one is wrong.
    let holders: [TransactionID: [GrantRow]]
    /// Rows of each submission; more than one is wrong.
    let rows: [SubmissionID: [SubmissionRow]]

    init(submitted: [Submitted], ledger: LedgerContents, topics: TopicIndex, told: ToldGrants) {
        self.submitted = submitted
        self.ledger = ledger
        self.topics = topics
        self.told = told
        holders = Dictionary(grouping: ledger.grants) { $0.granted.purchase.transactionID }
        rows = Dictionary(grouping: ledger.submissions, by: \.claimant.submissionID)
    }

    /// Everything that is wrong.
    func violations() -> [Violation] {
        answers() + grants() + deliveries() + events() + quarantine()
    }
}
