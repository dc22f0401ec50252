import AppStoreSimulator
import Purchases

/// A purchase that somebody made in this run's App Store.
struct Bought: Hashable, Sendable {
    let purchase: SimulatedPurchase
    let environment: Environment
}

/// A submission to come, with all that is to be known of it. It has no evidence yet.
struct Claim: Hashable, Sendable {
    /// What kind of submission it is, as the summary counts them.
    enum Kind: String, CaseIterable, Comparable, Sendable {
        case receipt = "receipt, one purchase"
        case bundleReceipt = "receipt, several purchases"
        case durableReceipt = "receipt, durable product"
        case sandboxReceipt = "receipt, sandbox"
        case faultyReceipt = "receipt, Apple fails first"
        /// Apple fails it more often than a worker tries in memory, so that it waits in the ledger.
        case parkedReceipt = "receipt, Apple fails for long"
        case signedTransaction = "signed transaction"
        case transactionID = "transaction id"
        case duplicate = "the same submission again"
        case resubmission = "the same purchase, another submission"
        case otherOrder = "the same purchase, another order"
        case otherUser = "the same purchase, another user"
        case revoked = "refunded purchase"
        case unknownProduct = "unknown product"
        case forged = "forged receipt"
        case malformed = "malformed submission"
        case garbage = "unreadable record"
        case tombstone = "record without value"

        static func < (left: Kind, right: Kind) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// Whether there is an answer that it must get.
    enum Expectation: Hashable, Sendable {
        /// Every purchase is granted; to this claim's user and order, unless somebody else's claim came first.
        case granted
        case failed(FailureReason)
        /// It goes to the quarantine topic as it came.
        case quarantined
    }

    /// What is sent as proof.
    enum Evidence: Hashable, Sendable {
        case receipt
        case forgedReceipt
        case signedTransaction
        case transactionID
        /// Nothing that is of use.
        case none
    }

    let kind: Kind
    /// Grows with each claim; of a duplicate, the number of what it repeats.
    let number: Int
    let bundleID: BundleID
    let userID: UserID
    let orderID: OrderID?
    let bought: [Bought]
    let evidence: Evidence
    let expectation: Expectation
    /// What Apple does with the first calls about it.
    let faults: [Fault]

    /// Nil where the message has none.
    var submissionID: SubmissionID? {
        switch kind {
        case .garbage, .tombstone: nil
        default: SubmissionID("chaos-\(number)")
        }
    }

    var transactions: [TransactionID] { bought.map(\.purchase.transactionID) }
}
