import Contract
import Ledger
import LedgerModel

/// The end of each claim's own submission: its answer, its late purchase, its way of proof.
extension Judge {
    /// A user's claim of a purchase that is the user's does not fail. Every claim has an event, and a repeat is
    /// answered by the newest of its purchases.
    func ownAnswers(_ found: inout [Violation]) {
        guard !options.forgets else { return }
        for claim in witness.script.claims where isJudged(claim) {
            let key = claim.claimant.submissionKey
            let mine = tables.rows(of: key).filter { $0.userID == claim.claimant.userID }
            if isHeard(claim, hasGrants: !mine.isEmpty), witness.answeredAt[key] == nil {
                found.append(Violation(.ownAnswer, "nobody told \(key) of claim \(claim.number) anything"))
            }
            guard mine.isEmpty, isRightful(claim) else { continue }
            let held = visible(claim).compactMap(holder).filter { isAnswer($0, to: claim) }
            switch tables.answer(key) {
            case .failed(let failure) where !held.isEmpty:
                found.append(
                    Violation(
                        .ownAnswer,
                        "claim \(claim.number) failed as \(failure.reason); \(held[0].reference) is its user's"))
            case .repeated(let answer):
                guard case .genuine = claim.truth, let newest = held.max(by: Self.isOlder),
                    newest.reference != answer.grant
                else { continue }
                found.append(
                    Violation(
                        .ownAnswer, "claim \(claim.number) was answered by \(answer.grant), not \(newest.reference)"))
            default: continue
            }
        }
    }

    /// A claim is about a purchase that Apple's copy of the receipt lacked at first. It has its grant once Apple has
    /// the purchase, because everything before that was another order's.
    func grown(_ found: inout [Violation]) {
        guard !options.forgets else { return }
        for claim in witness.script.claims where isJudged(claim) && isRightful(claim) && isWaitingForMore(claim) {
            guard let last = claim.purchases.last, holder(last) == nil else { continue }
            found.append(Violation(.granted, "\(last.grantKey) came late to claim \(claim.number), and is not granted"))
        }
    }

    private func isWaitingForMore(_ claim: ScriptedClaim) -> Bool {
        guard case .growing = claim.truth, claim.claim.transactionID == nil, claim.doubtsNothingNew,
            let order = claim.claimant.orderID
        else { return false }
        // A purchase that was new at the first look ended the claim.
        let isNew = tables.rows(of: claim.claimant.submissionKey).contains { $0.userID == claim.claimant.userID }
        return !isNew && !visible(claim).compactMap(holder).contains { $0.orderID == order }
    }

    /// A receipt without anything new waits as long as a doubt before another order's grant answers it.
    func nothingNew(_ found: inout [Violation]) {
        guard !options.forgets else { return }
        for claim in witness.script.claims where claim.doubtsNothingNew && isJudged(claim) {
            let key = claim.claimant.submissionKey
            guard let order = claim.claimant.orderID, let answer = tables.answer(key), tables.rows(of: key).isEmpty,
                !claim.purchases.compactMap(holder).contains(where: { $0.orderID == order })
            else { continue }
            if case .failed(let failure) = answer,
                failure.reason != FailureReason.grantedToAnotherOrder.rawValue,
                failure.reason != FailureReason.ownedByAnotherUser.rawValue
            {
                continue
            }
            let answers = (apple.answers[claim.number] ?? []).filter(\.isAnswer)
            let span = (answers.last?.at ?? 0) - (answers.first?.at ?? 0)
            if answers.count < 5 || span < options.doubtLimit - 2000 {
                found.append(
                    Violation(.doubt, "claim \(claim.number) had \(answers.count) looks for its order in \(span) ms"))
            }
        }
    }

    /// Apple's signature alone grants only while verifyReceipt answers nobody.
    func local(_ found: inout [Violation]) {
        for grant in tables.allGrants where grant.verifiedBy == VerifiedBy.local.rawValue {
            let moment = grant.grantedAt.milliseconds - World.wallStart
            let isAway = apple.outages.contains {
                $0.endpoint == .verifyReceipt && $0.begin <= moment + World.clockError
                    && moment < $0.end + $0.longestPause + Self.unnoticed
            }
            // A call that fails for some claims may have failed for everybody who was asked.
            let seemsAway = apple.spells.values.contains { $0.isFailure && moment < $0.end + Self.unnoticed }
            if !isAway, !seemsAway {
                found.append(Violation(.asked, "\(grant.reference) was granted by signature while Apple answered"))
            }
        }
    }

    /// Submissions that a configuration held are tried again as soon as every worker has the mended configuration, and
    /// not when they are due.
    func mended(_ found: inout [Violation]) {
        guard options.isSteady, let mended = witness.mended else { return }
        for key in mended.held where contents(of: key) == 1 {
            guard let moment = witness.answeredAt[key], moment > mended.at + Self.triedAgain else { continue }
            found.append(Violation(.mended, "\(key) waited for \(moment - mended.at) ms"))
        }
    }

    /// Milliseconds in which a worker with a new apps file has taken the held submissions.
    private static let triedAgain: Int64 = 60_000
    /// Milliseconds after which every worker knows that an endpoint answers again, or has no news of it.
    private static let unnoticed: Int64 = 300_000

    // MARK: Claims

    /// Whether a submission's own answer shows outside: one claim came under its id, somebody reads it, and no operator
    /// has answered it.
    private func isJudged(_ claim: ScriptedClaim) -> Bool {
        let key = claim.claimant.submissionKey
        return contents(of: key) == 1 && witness.abandonments[key] == nil && witness.isOwedToAnybody(claim)
    }

    /// Whether its app gets an event of every outcome. A grant whose worker ended before its event comes again as a
    /// repeat, if its record has another origin.
    private func isHeard(_ claim: ScriptedClaim, hasGrants: Bool) -> Bool {
        hasGrants && !options.replacesRecords
            || claim.repeats == .publish && !options.configurationsDiffer
    }

    /// The purchases that Apple's reply has from the start.
    private func visible(_ claim: ScriptedClaim) -> [GrantablePurchase] {
        if case .growing = claim.truth, claim.claim.transactionID == nil { return Array(claim.purchases.dropLast()) }
        return claim.purchases
    }

    private func holder(_ purchase: GrantablePurchase) -> Grant? {
        tables.row(of: purchase.reference) ?? tables.row(of: purchase.grantKey)
    }

    private func isAnswer(_ grant: Grant, to claim: ScriptedClaim) -> Bool {
        let who = claim.claimant
        guard grant.userID == who.userID, grant.bundleID == who.bundleID else { return false }
        return grant.orderID == nil || who.orderID == nil || grant.orderID == who.orderID
    }

    private static func isOlder(_ left: Grant, _ right: Grant) -> Bool {
        (left.purchasedAt.milliseconds, left.reference) < (right.purchasedAt.milliseconds, right.reference)
    }
}

extension GrantablePurchase {
    var reference: GrantReference {
        GrantReference(environment: purchase.environment, transactionID: purchase.transactionID)
    }
}
