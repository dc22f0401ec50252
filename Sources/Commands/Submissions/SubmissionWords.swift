import Contract
import Ledger

/// The outcome of a submission, for people who have not read the code. It says who has which items, whether the events
/// are published, the next step, and what the player may hear.
struct SubmissionWords: Sendable {
    let state: SubmissionState
    /// Purchases that it was granted.
    var grants = 1
    /// Whether another system granted it, before this one came into use.
    var isImported = false
    /// Whether Apple attests that it was made in the sandbox, without money.
    var isTest = false
    /// Whether workers are not through with its record, so that its event may be neither published nor owed yet.
    var isUnpassed = false
    /// When it was granted, failed or repeated; nil while it waits.
    var decidedAt: Timestamp?
    /// Whether Apple's signature on the evidence of what waits holds.
    var isSigned = false
    /// Of a repeat: the order that it is for, and the transaction that was granted.
    var order: OrderID?
    var transaction: TransactionID?
    /// Of a repeat: the grant that answers it; nil where it was not looked for.
    var answering: SubmissionRow?
    /// Of a failure or a wait: the word, and its sentence.
    var cause: String?
    var detail: String?
    /// Nil unless it waits.
    var next: NextTry?
    var owed: [OutboxRow] = []
    var passedOver: [PassedOver] = []
    /// Moments are shown relative to it.
    let now: Timestamp

    /// Of an id that the ledger does not have, behind a colon.
    static let ofUnknown =
        "it is not read or not verified yet, could not be read, was never submitted, or its answer was pruned or erased"
    /// Workers tell an event or owe it within seconds of its decision. A record that no checkpoint has passed by now may
    /// never be passed: offsets begin anew with a new topic, or with the group of a ledger that was moved.
    static let longestWay = Duration.seconds(3600)
    static let whileItWaits = "Your purchase is safe, and will be delivered."
    /// For a purchase that Apple has not confirmed: it may have been made up, or Apple may stay with its refusal.
    static let whileInDoubt =
        "We are still asking Apple about this purchase. If you were charged, please restore purchases."

    /// For a record that no worker has read, or a claim that is held before anybody has verified it.
    static let whileUnverified = "Your purchase has reached us, and is being checked."

    /// Whole sentences, in the order in which people want to know.
    var sentences: [String] {
        // The ledger's own words come without a full stop.
        let detail = detail.map { $0.isEmpty || $0.hasSuffix(".") ? $0 : $0 + "." }
        return (outcome(detail) + [test] + left + [told] + [forPlayer.map { "Tell the player: \"\($0)\"" }]).compactMap(
            \.self)
    }

    private func outcome(_ detail: String?) -> [String?] {
        switch state {
        case .granted: [grants == 1 ? "The purchase is the user's." : "\(grants) purchases are the user's."]
        case .repeated: ["The purchase is the user's, by the grant of another submission.", unpaid]
        case .failed where reason == .abandonedByOperator:
            [
                "Nothing was granted.", "A person ended it, and wrote: \"\(self.detail ?? "")\".",
                "If they gave nothing in its place, the backend may submit it again under a new id.",
                "Tell the player what they decided.",
            ]
        case .failed: ["Nothing was granted.", detail, again]
        case .held: ["Neither granted nor refused: it waits for our side.", detail] + remedy
        case .retrying: ["Neither granted nor refused yet."] + retrying(detail)
        }
    }

    /// Of a receipt's grants the newest answers a claim, so another one may have paid its order.
    private var unpaid: String? {
        guard let order, answering?.claimant.orderID != order else { return nil }
        return "Order \(order) is paid by a grant of its own alone: grantor find \(order) shows whether one is there."
    }

    private var whichGrant: String { "grantor find \(transaction?.rawValue ?? "TRANSACTION") shows it" }

    private var test: String? {
        isTest ? "It is a test purchase of the sandbox: nothing is given for it outside of tests." : nil
    }

    private var reason: FailureReason? { state == .failed ? cause.flatMap { FailureReason(rawValue: $0) } : nil }

    private var again: String? {
        switch reason?.again {
        case .no: "This is final."
        case .otherContent: "The backend may submit it again with mended or fresh content, under a new id."
        case .sameContent: "Once the cause is mended, the backend has to submit it again, under a new id."
        case nil: nil
        }
    }

    private var remedy: [String?] {
        guard let cause = cause.flatMap({ HoldCause(rawValue: $0) }) else { return [goesOn] }
        let step = "To do: \(cause.remedy)."
        return switch cause {
        // No time mends these.
        case .endsWorkers, .accountTokenMissing, .advancedCommerce, .partialRefund: [step]
        default: [step, goesOn]
        }
    }

    private var goesOn: String? { next.map { "Then it goes on by itself: it is tried again \($0.words)." } }

    private var retryCause: RetryCause? { state == .retrying ? cause.flatMap { RetryCause(rawValue: $0) } : nil }

    private func retrying(_ detail: String?) -> [String?] {
        let next = next?.words ?? "soon"
        switch retryCause {
        case .endpointUnavailable:
            return ["Apple does not answer, or too slowly. It is asked by itself as soon as it can be."]
        case .signedAhead:
            return [
                "Apple signed it at a moment that has not come by this host's clock. It is tried again \(next). "
                    + "To do: correct this host's clock; then it goes on by itself."
            ]
        case let cause? where cause.isDoubt:
            return [
                detail,
                "That may not be Apple's last word, so it is asked again \(next). It ends if Apple stays with it, "
                    + "after six hours unless GRANTOR_DOUBT_LIMIT says otherwise.",
            ]
        case .noLongerFound:
            return [detail, "Two words of Apple's contradict each other, so it is asked again \(next), without end."]
        default: return ["Apple cannot tell.", detail, "It is asked again \(next)."]
        }
    }

    /// Paid purchases that were left out beside those that were granted.
    private var left: [String?] {
        var counts: [PassedOver.Reason: Int] = [:]
        for passedOver in passedOver { counts.merge(passedOver.counts, uniquingKeysWith: +) }
        let all = counts.values.reduce(0, +)
        guard all > 0 else { return [] }
        let listed =
            counts[.productNotConfigured] == nil
            ? nil
            : "Once the apps file lists what is missing there, the backend has to submit the evidence again, under a new "
                + "id, unless it was granted since."
        let reasons = PassedOver.Reason.allCases.filter { counts[$0] != nil }.map(\.rawValue).joined(separator: ", ")
        let leftOut =
            all == 1
            ? "1 more purchase was left out (\(reasons)), and does not come by itself."
            : "\(all) more purchases were left out (\(reasons)), and do not come by themselves."
        return [leftOut, listed]
    }

    /// Whether everybody knows. Nobody else hears of a grant before its service has said yes.
    private var told: String? {
        if let call = owed.first(where: { $0.answer?.isRefusal == true }) ?? owed.first(where: { $0.step == .call }) {
            let next = "It is called again \(NextTry(call, now: now).words)."
            return switch call.answer {
            case nil: "The app's inventory service has not been told of it yet."
            case let answer? where answer.isRefusal:
                "The app's inventory service refuses it (\(answer.words)): mostly it does not know the product or player. "
                    + "To do: add the product or player there. \(next)"
            case let answer?:
                "The app's inventory service has not said yes (\(answer.words)). To do: its team mends the service, or the "
                    + "way to it; grantor check calls it. \(next)"
            }
        }
        if let event = owed.first {
            return event.attempts == 0
                ? "The event that says so is about to be published."
                : "Kafka has not taken the event that says so, which is owed since \(event.owedSince.rfc3339), "
                    + "after \(SubmissionReport.attempts(event.attempts)). To do: grantor check says why. Then it is "
                    + "published by itself"
                    // Only a purchase that the user has comes with the event.
                    + ([.granted, .repeated].contains(state) ? ": do not submit again, and give nothing by hand." : ".")
        }
        switch state {
        case .granted where isImported: return "Another system granted it, so no event told of it."
        case .repeated where answering?.isImported == true:
            return
                "Another system granted it, and its event gives no items: if the player has nothing, look at that system."
                + againGivesNothing
        case .granted, .repeated:
            if isOnItsWay {
                return
                    "Its event may be on its way: workers are not through with its record yet. Ask again in a minute."
            }
            if isUnpassed {
                return
                    "No checkpoint has passed its record for an hour: its partition stands, its topic was made anew, or the "
                    + "ledger was moved. If the player has nothing, look at the game's service that reads the event. If it "
                    + "lacks the event, grantor events republish --submission ID"
                    + (state == .repeated ? " --state repeated" : "") + " tells it again." + againGivesNothing
            }
            // A grant that was imported has no items in its event, because the system that it came from gave them.
            return
                "Nothing is owed of it any more: if the player has nothing, look at the game's service that reads the event"
                + (state == .repeated && answering == nil
                    ? ", or, if that grant is an imported one, at the system that it came from: \(whichGrant)." : ".")
                + againGivesNothing
        case .failed, .held, .retrying: return nil
        }
    }

    private var isOnItsWay: Bool {
        guard isUnpassed, let decidedAt else { return isUnpassed }
        return now.milliseconds - decidedAt.milliseconds < Self.longestWay.wholeMilliseconds
    }

    /// Purchases that were left out have to be submitted again. Beside them it would mislead.
    private var againGivesNothing: String { passedOver.isEmpty ? " Submitting again gives nothing." : "" }

    private var forPlayer: String? {
        if isTest { return nil }
        return switch state {
        case .held: whileHeld
        case .retrying: isPromised ? Self.whileItWaits : Self.whileInDoubt
        // These words are the game's, and send the player to support.
        case .failed: reason == .abandonedByOperator ? nil : reason?.wordsForPlayer
        case .granted, .repeated:
            owed.isEmpty && (!isOnItsWay || isImported || answering?.isImported == true) ? nil : Self.whileItWaits
        }
    }

    /// Most causes come before anybody has verified the claim, so only Apple's signature on it lets us promise.
    private var whileHeld: String {
        switch cause.flatMap({ HoldCause(rawValue: $0) }) {
        case .noDecision: Self.whileInDoubt
        case .productNotConfigured, .productContradicted, .accountTokenMissing, .advancedCommerce, .partialRefund:
            Self.whileItWaits
        case .sharedSecretRefused, .credentialsMissing, .credentialsRefused, .requestRefused, .unknownAnswer,
            .appNotConfigured, .incompleteAnswer, .signatureUnchecked, .decisionRefused, .endsWorkers, .laterVersion,
            nil:
            isSigned ? Self.whileItWaits : Self.whileUnverified
        }
    }

    /// Whether Apple has attested what is retrying, and not taken it back. Anybody can make up the rest.
    private var isPromised: Bool {
        switch retryCause {
        case .signedAhead: true
        case .noLongerFound: false
        case let cause: isSigned && cause?.isDoubt != true
        }
    }
}
