import Contract
import Ledger
import Logging

/// One line for each decision that the ledger has written, at the level `debug`: the way to follow one submission.
struct DecisionLog: Sendable {
    let logger: Logger

    /// A batch and its results. It costs a comparison unless the level is `debug`.
    func wrote(_ decisions: [Decision], _ results: [DecisionResult]) {
        guard logger.logLevel <= .debug else { return }
        for (decision, result) in zip(decisions, results) {
            logger.debug("A submission has an outcome", metadata: Self.metadata(decision, result))
        }
    }

    private static func metadata(_ decision: Decision, _ result: DecisionResult) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "submission": "\(decision.claimant.submissionID)", "app": "\(decision.claimant.bundleID)",
            "user": "\(decision.claimant.userID)", "origin": "\(decision.origin)",
            "attempts": .number(decision.attempts),
        ]
        switch result {
        case .written(let outcome, _, let passedOver):
            metadata["outcome"] = .text(outcome.word.rawValue)
            switch outcome {
            case .granted(let created): metadata["created"] = .number(created)
            case .failed(let reason): metadata["reason"] = .text(reason)
            case .retrying(let cause): metadata["cause"] = .text(cause.rawValue)
            case .held(let cause): metadata["cause"] = .text(cause.rawValue)
            case .redelivery, .repeated: break
            }
            if !passedOver.isEmpty { metadata["passed_over"] = .number(passedOver.values.reduce(0, +)) }
        case .notOwned: metadata["outcome"] = "not_owned"
        case .nothingNew: metadata["outcome"] = "nothing_new"
        case .undecided: metadata["outcome"] = "undecided"
        case .toBeHeld(let cause, let detail):
            metadata["outcome"] = "to_be_held"
            metadata["cause"] = .text(cause.rawValue)
            metadata["detail"] = .text(detail)
        case .refused(let detail):
            metadata["outcome"] = "refused"
            metadata["detail"] = .text(detail)
        }
        return metadata
    }
}
