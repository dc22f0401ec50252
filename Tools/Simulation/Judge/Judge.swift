import Contract
import Ledger
import LedgerModel

/// Judges a run by records, rows and events alone, at its end: faults are over and nothing is left to do.
struct Judge {
    let witness: Witness
    let tables: ModelTables
    let apple: SimulatedApple
    let options: SwarmOptions
    private let isTold: (Grant) -> Bool
    private let claims: [SubmissionKey: [ScriptedClaim]]

    init(
        witness: Witness, tables: ModelTables, apple: SimulatedApple, options: SwarmOptions,
        isTold: @escaping (Grant) -> Bool
    ) {
        self.witness = witness
        self.tables = tables
        self.apple = apple
        self.options = options
        self.isTold = isTold
        claims = Dictionary(grouping: witness.script.claims, by: \.claimant.submissionKey)
    }

    /// Claims that came under an id.
    func contents(of key: SubmissionKey) -> Int { claims[key]?.count ?? 0 }

    private var wasSetBack: Bool { options.forgets }

    func judge() -> [Violation] {
        var found: [Violation] = []
        onceEach(&found)
        proven(&found)
        paidAndGranted(&found)
        oneAnswer(&found)
        everythingTold(&found)
        everythingCalled(&found)
        doubts(&found)
        ownAnswers(&found)
        grown(&found)
        nothingNew(&found)
        local(&found)
        mended(&found)
        abandoned(&found)
        isolated(&found)
        return found
    }

    /// Each purchase is told under one id and to one user; a durable one under whatever transaction it comes.
    private func onceEach(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        var holders: [GrantReference: (id: EventID, user: UserID)] = [:]
        for event in witness.events where event.topic == .granted {
            guard let environment = event.environment else { continue }
            for transaction in Set([event.transactionID, event.originalTransactionID]) {
                let name = GrantReference(environment: environment, transactionID: transaction)
                let holder = holders[name] ?? (event.id, event.userID)
                holders[name] = holder
                if holder != (event.id, event.userID) {
                    found.append(
                        Violation(
                            .once,
                            "\(name) was told as \(holder.id) to \(holder.user) and \(event.id) to \(event.userID)"))
                }
            }
        }
    }

    /// Each granted event is of a purchase that a claim of that user proves.
    private func proven(_ found: inout [Violation]) {
        for event in witness.events where event.topic == .granted && event.isTold {
            let proof = (claims[event.submission] ?? []).contains { claim in
                if case .forged = claim.truth { return false }
                // Apple's signature alone is enough where the app says so.
                if case .never = claim.truth, event.verifiedBy != "local" { return false }
                return claim.claimant.userID == event.userID
                    && claim.purchases.contains {
                        $0.purchase.transactionID == event.transactionID
                            && $0.purchase.environment == event.environment
                    }
            }
            if !proof { found.append(Violation(.proven, "nobody proved \(event.text)")) }
        }
    }

    /// Each genuine purchase with a claim of a user who may have it was told to one of these users.
    private func paidAndGranted(_ found: inout [Violation]) {
        for claim in witness.script.claims where isRightful(claim) && witness.isOwedToAnybody(claim) {
            for purchase in sure(claim) {
                let key = purchase.grantKey
                let reference = GrantReference(
                    environment: key.environment, transactionID: purchase.purchase.transactionID)
                guard let grant = tables.row(of: reference) ?? tables.row(of: key) else {
                    found.append(Violation(.granted, "\(key) of claim \(claim.number) is paid, and not granted"))
                    continue
                }
                let told = isTold(grant)
                if !told { found.append(Violation(.told, "\(key) is granted, and nobody was told")) }
            }
        }
    }

    /// Whether a claim is sure to be granted, whichever order things come in.
    func isRightful(_ claim: ScriptedClaim) -> Bool {
        let key = claim.claimant.submissionKey
        guard witness.abandonments[key] == nil, !witness.isAmbiguous(key, options) else { return false }
        switch claim.truth {
        case .genuine, .late, .held, .ahead, .growing: break
        case .forged, .changing, .never: return false
        }
        // A claim that failed under the same id and content stays failed. Here a genuine claim fails only because
        // another order's or another user's claim got the grant. Then the purchase has its grant.
        return true
    }

    private func sure(_ claim: ScriptedClaim) -> [GrantablePurchase] {
        if case .growing = claim.truth, claim.claim.transactionID == nil { return Array(claim.purchases.dropLast()) }
        // A receipt claimed by a transaction is about that one alone.
        return claim.purchases
    }

    /// No submission is told granted and failed, unless two contents came under one id.
    private func oneAnswer(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        for event in witness.events where event.topic == .granted && event.isTold {
            if witness.toldFailures.contains(event.submission), claims[event.submission]?.count == 1 {
                found.append(Violation(.oneAnswer, "\(event.submission) was told granted and failed"))
            }
        }
    }

    /// Each record that was produced is complete, each row is told.
    private func everythingTold(_ found: inout [Violation]) {
        for grant in tables.allGrants where !isTold(grant) && isOwed(grant.claimant) {
            found.append(Violation(.told, "\(grant.reference) is granted, and nobody was told"))
        }
        for answer in tables.allAnswers {
            guard case .failed(let failure) = answer, isOwed(failure.claimant),
                !witness.isAmbiguous(failure.claimant.submissionKey, options)
            else { continue }
            if !witness.toldFailures.contains(failure.claimant.submissionKey) {
                found.append(Violation(.told, "\(failure.claimant.submissionKey) failed, and nobody was told"))
            }
        }
    }

    private func everythingCalled(_ found: inout [Violation]) {
        guard !wasSetBack, !options.configurationsDiffer else { return }
        for grant in tables.allGrants
        where grant.claimant.bundleID == Script.calling && !witness.wasCalled(grant) && isOwed(grant.claimant) {
            found.append(Violation(.called, "\(grant.reference) is granted, and its service has not heard of it"))
        }
    }

    /// Whether a row still needs its event. Its worker may have ended before its event. In the topic made anew since,
    /// its record was quarantined.
    private func isOwed(_ claimant: Claimant) -> Bool {
        claims[claimant.submissionKey].map { $0.contains(where: witness.isOwedToAnybody) } ?? true
    }

    /// A doubt that became a failure had five doubting replies, and its time between the first and the last.
    private func doubts(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        for answer in tables.allAnswers {
            guard case .failed(let failure) = answer, let number = ScriptedClaim.number(of: failure.claimant),
                witness.script.claims.indices.contains(number), case .never(let rejection) = apple.claims[number].truth,
                failure.reason == rejection.reason.rawValue,
                witness.abandonments[failure.claimant.submissionKey] == nil
            else { continue }
            let answers = apple.answers[number] ?? []
            let doubts = answers.count(where: \.isDoubt)
            // Two records of a claim may be asked about by turns, and have a clock each.
            let records = witness.script.records.count {
                if case .claim(let claim) = $0.content { claim.number == number } else { false }
            }
            let span = options.losesAnswers || records > 1 ? Self.whole(answers) : Self.doubting(answers)
            if doubts < 5 || span < options.doubtLimit - 2000 {
                found.append(
                    Violation(.doubt, "claim \(number) failed after \(doubts) answers in \(span) ms"))
            }
        }
    }

    /// Between doubting replies with nothing else in between.
    private static func doubting(_ answers: [SimulatedApple.Heard]) -> Int64 {
        zip(answers, answers.dropFirst()).reduce(0) { $0 + ($1.0.isDoubt && $1.1.isDoubt ? $1.1.at - $1.0.at : 0) }
    }

    private static func whole(_ answers: [SimulatedApple.Heard]) -> Int64 {
        (answers.last(where: \.isDoubt)?.at ?? 0) - (answers.first(where: \.isDoubt)?.at ?? 0)
    }

    /// No grant of an abandoned submission is newer than its abandonment.
    private func abandoned(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        for (key, moment) in witness.abandonments.sorted(by: { $0.key < $1.key }) {
            // Other content under the id may be another user's, or have had its grant before.
            guard claims[key]?.count == 1 else { continue }
            let rows = tables.rows(of: key)
            let late = rows.filter { $0.grantedAt.milliseconds > World.wallStart + moment + World.clockError }
            // A submission that had its grants was only asked about again. It keeps no trace of having been abandoned,
            // and its record may come again.
            let mayComeAgain = late.count < rows.count && (options.losesAnswers || options.offsetsSetBack > 0)
            if let grant = late.first, !mayComeAgain {
                found.append(Violation(.abandoned, "\(key) was abandoned, and \(grant.reference) is granted"))
            }
        }
    }

    /// Milliseconds: after a second an endpoint's silence is noticed, and a second is allowed for the rest.
    private static let noticed: Int64 = 2500

    /// Whichever endpoint of Apple's is away, signed evidence is answered at once, where nothing else goes wrong.
    private func isolated(_ found: inout [Violation]) {
        // A worker may have another setting of the app for repeats, and publish none.
        guard options.isCalm, !options.configurationsDiffer, !witness.hasLostOwnership else { return }
        var first: [SubmissionKey: Int64] = [:]
        for (number, moment) in witness.producedAt {
            guard case .claim(let claim) = witness.script.records[number].content, claim.endpoints.isEmpty,
                !claim.owesCall, claim.repeats == .publish
            else { continue }
            if case .ahead = claim.truth { continue }
            let key = claim.claimant.submissionKey
            first[key] = min(first[key] ?? .max, moment)
        }
        for (key, moment) in first.sorted(by: { $0.key < $1.key }) where moment > World.firstReading {
            guard let answered = witness.answeredAt[key] else { continue }
            if answered - moment > Self.noticed {
                found.append(Violation(.isolation, "\(key) waited for \(answered - moment) ms"))
            }
        }
    }
}
