import Contract
import Ledger
import Scheduling

/// The news that people get of submissions and of records that hold none. See ``Occurrences`` for when.
struct SubmissionNews {
    /// A product of an app whose purchases are left out, and why.
    struct LeftOut: Hashable {
        let app: BundleID
        let product: ProductID
        let reason: PassedOver.Reason
    }

    /// Products that lines name, of all apps and reasons together.
    static let mostProducts = 1000
    /// Such a purchase is paid and has no answer of its own, so nothing else names it.
    static let toldReasons: Set<PassedOver.Reason> = [
        .productNotConfigured, .accountTokenMissing, .advancedCommerce, .partialRefund,
    ]
    /// Apps that lines name; senders can make them up.
    static let mostApps = 1000

    /// Records without a submission since the start, by reason. A submission that is read again counts again.
    private(set) var totals: [QuarantineReason.Kind: Int] = [:]
    /// Purchases that were passed over since the start, by reason. They count again if their record is read again.
    private(set) var passedOverTotals: [PassedOver.Reason: Int] = [:]
    private var quarantined = Occurrences<QuarantineReason.Kind, Origin>(
        mostKinds: QuarantineReason.Kind.allCases.count)
    /// Purchases that were left out beside those that are granted.
    private var passedOver = Occurrences<LeftOut, SubmissionID>(mostKinds: mostProducts)
    /// Apps that submissions name, and the apps file lacks. Metrics count them, and name neither app nor submission.
    private var missingApps = Occurrences<BundleID, SubmissionID>(mostKinds: mostApps)
    /// Evidence that was signed ahead of this host's clock.
    private var signedAhead = Occurrences<RetryCause, SubmissionID>(mostKinds: 1)

    var nextMoment: Instant? {
        var earliest = quarantined.nextMoment
        earliest.bringForward(to: passedOver.nextMoment)
        earliest.bringForward(to: missingApps.nextMoment)
        earliest.bringForward(to: signedAhead.nextMoment)
        return earliest
    }

    mutating func quarantined(_ kind: QuarantineReason.Kind, at origin: Origin, _ now: Instant) {
        totals[kind, default: 0] += 1
        quarantined.found(kind, origin, now)
    }

    /// A submission's rows are in the ledger, without these purchases. Only ``toldReasons`` are reported.
    /// - Parameters:
    ///   - purchases: As the decision named them; nil for none.
    ///   - counts: By reason; nil for all of these purchases. Another user's purchases are counted here alone.
    mutating func passedOver(
        _ purchases: PassedOver?, _ counts: [PassedOver.Reason: Int]? = nil, by submission: SubmissionKey,
        _ now: Instant
    ) {
        passedOverTotals.merge(counts ?? purchases?.counts ?? [:], uniquingKeysWith: +)
        for entry in purchases?.named ?? [] where Self.toldReasons.contains(entry.reason) {
            passedOver.found(
                LeftOut(app: submission.bundleID, product: entry.productID, reason: entry.reason),
                submission.submissionID, now)
        }
    }

    /// A submission's outcome is in the ledger. A submission that waits for the clock is looked at again, and counts
    /// each time.
    mutating func written(_ outcome: Outcome, by claimant: Claimant, _ now: Instant) {
        switch outcome {
        case .retrying(.signedAhead): signedAhead.found(.signedAhead, claimant.submissionID, now)
        case .failed(reason: FailureReason.unknownApp.rawValue):
            missingApps.found(claimant.bundleID, claimant.submissionID, now)
        case .granted, .redelivery, .repeated, .failed, .retrying, .held: break
        }
    }

    /// Reports the news that are due.
    /// - Parameter all: Also those that are not: the worker ends.
    mutating func tell(_ turn: inout Turn, all: Bool = false) {
        let now = turn.now
        for news in quarantined.take(at: now, all: all) {
            turn.alert(.quarantined(news.kind, records: news.count, example: news.example))
        }
        for news in passedOver.take(at: now, all: all) {
            let left = news.kind
            turn.alert(
                .passedOver(left.app, left.product, left.reason, purchases: news.count, example: news.example))
        }
        for news in signedAhead.take(at: now, all: all) {
            turn.alert(.signedAhead(submissions: news.count, example: news.example))
        }
        for news in missingApps.take(at: now, all: all) {
            turn.alert(.appMissing(news.kind, submissions: news.count, example: news.example))
        }
    }
}
