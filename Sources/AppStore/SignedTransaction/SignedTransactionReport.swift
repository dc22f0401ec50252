import Contract

/// Step by step, what was found about a text that should be a signed transaction: for people.
public struct SignedTransactionReport: Hashable, Sendable {
    /// How a check ended. The raw values are what reports say.
    public enum Outcome: String, Sendable {
        case passed
        case failed
        /// A check before it failed.
        case skipped
    }

    /// One check and its end.
    public struct Check: Hashable, Sendable {
        public let step: VerificationStep
        public let outcome: Outcome
        /// One sentence for people; empty for a check that was skipped. Holds nothing secret: no token, no account.
        public let detail: String
    }

    /// All steps, in their order.
    public let checks: [Check]
    /// The transaction, if Apple signed it, even if there is no purchase in it.
    public let transaction: SignedTransaction?
    /// Why there is none.
    public let error: SignedTransactionError?

    /// Whether every check passed.
    public var isPassed: Bool { checks.allSatisfy { $0.outcome == .passed } }

    init(passed: [(step: VerificationStep, detail: String)], result: Result<SignedTransaction, SignedTransactionError>)
    {
        var checks = passed.map { Check(step: $0.step, outcome: .passed, detail: $0.detail) }
        let failure: String
        switch result {
        case .success(let transaction):
            self.transaction = transaction
            error = nil
            switch transaction.purchase {
            case .success(let purchase):
                let detail =
                    "Transaction \(purchase.transactionID) of \(purchase.productID) can be granted, if policy allows."
                checks.append(Check(step: .purchase, outcome: .passed, detail: detail))
                failure = ""
            case .failure(let unreadable): failure = unreadable.detail
            }
        case .failure(let error):
            transaction = nil
            self.error = error
            failure = error.detail
        }
        for step in VerificationStep.allCases.dropFirst(checks.count) {
            let isFirst = checks.allSatisfy { $0.outcome == .passed }
            checks.append(Check(step: step, outcome: isFirst ? .failed : .skipped, detail: isFirst ? failure : ""))
        }
        self.checks = checks
    }
}

/// A check that a signed transaction goes through, in this order; what fails one goes no further. The raw values are what
/// reports say.
public enum VerificationStep: String, Sendable, CaseIterable {
    /// Size, and three parts with dots between them.
    case form
    /// Algorithm, certificates, nothing that is not allowed.
    case header
    /// The certificates lead to a pinned root.
    case certificates
    /// The signature is the certified key's, over header and payload.
    case signature
    /// The payload can be read, and is one of a transaction.
    case payload
    /// The certificates were valid when it was signed.
    case validity
    /// It was not signed in the future.
    case clock
    /// It is of the App Store or its sandbox.
    case environment
    /// The transaction has all that a grant needs.
    case purchase
}

/// Is told of every step that a transaction passed.
///
/// The verifier is generic over it, so that explaining a transaction runs the very checks that granting one does, and
/// granting pays nothing for it.
protocol VerificationTrace {
    mutating func passed(_ step: VerificationStep, _ detail: @autoclosure () -> String)
}

/// Keeps nothing, at no cost.
struct NoTrace: VerificationTrace {
    func passed(_ step: VerificationStep, _ detail: @autoclosure () -> String) {}
}

/// Keeps the steps that were passed.
struct StepTrace: VerificationTrace {
    private(set) var steps: [(step: VerificationStep, detail: String)] = []

    mutating func passed(_ step: VerificationStep, _ detail: @autoclosure () -> String) {
        steps.append((step, detail()))
    }
}
