import Logging
import Metrics
import Purchases

/// Tells operators of what a settlement's rules warn of.
struct SettlementWarnings: Sendable {
    private let logger: Logger
    private let counters: [Conclusion.Warning: Counter]

    init(logger: Logger) {
        self.logger = logger
        counters = Dictionary(
            uniqueKeysWithValues: Conclusion.Warning.allCases.map {
                ($0, Counter(label: "grantor_ledger_warnings_total", dimensions: [("warning", $0.rawValue)]))
            })
    }

    func report(_ warning: Conclusion.Warning, of settlement: Settlement) {
        counters[warning]?.increment()
        let metadata: Logger.Metadata = [
            "bundleId": "\(settlement.key.bundleID)", "submissionId": "\(settlement.key.submissionID)",
            "userId": "\(settlement.claimant.userID)",
            "partition": "\(settlement.origin.partition)", "offset": "\(settlement.origin.offset)",
        ]
        switch warning {
        case .reusedID: logger.warning("A submission id was used for two different submissions", metadata: metadata)
        case .undecided:
            logger.error("A settlement had no decision to write; the submission is held", metadata: metadata)
        }
    }
}
