import Contract
import Ledger
import LedgerModel

/// Judges a run at its end, when faults are over and nothing is left to do: by records, rows and events alone.
struct Judge {
    let witness: Witness
    let tables: ModelTables
    let apple: SimulatedApple
    let wasSetBack: Bool
    /// Nothing but Apple goes wrong.
    let isCalm: Bool

    func judge() -> [Violation] {
        var found: [Violation] = []
        onceEach(&found)
        proven(&found)
        paidAndGranted(&found)
        oneAnswer(&found)
        everythingTold(&found)
        doubts(&found)
        abandoned(&found)
        isolated(&found)
        return found
    }

    /// Each purchase is told under one id and to one user; a durable one under whatever transaction it comes.
    private func onceEach(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        var holders: [String: (id: EventID, user: UserID)] = [:]
        for event in witness.events where event.topic == .granted {
            let environment = event.environment?.rawValue ?? ""
            for name in Set(["\(environment):\(event.transactionID)", "\(environment):\(event.originalTransactionID)"])
            {
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
        for event in witness.events where event.topic == .granted && !event.isRepeat {
            let proof = witness.script.claims.contains { claim in
                if case .forged = claim.truth { return false }
                // Apple's signature alone is enough where the app says so.
                if case .never = claim.truth, event.member("verifiedBy") != "local" { return false }
                return claim.claimant.submissionID == event.submissionID && claim.claimant.userID == event.userID
                    && claim.claimant.bundleID == event.bundleID
                    && claim.purchases.contains {
                        $0.purchase.transactionID == event.transactionID
                            && $0.purchase.environment == event.environment
                    }
            }
            if !proof { found.append(Violation(.proven, "nobody proved \(event.text)")) }
        }
    }

    /// Each purchase that is genuine, and that somebody claimed who may, was told to one of those.
    private func paidAndGranted(_ found: inout [Violation]) {
        for claim in witness.script.claims where isRightful(claim) {
            for purchase in sure(claim) {
                let key = purchase.grantKey
                let grant =
                    tables.row(
                        of: GrantReference(
                            environment: key.environment, transactionID: purchase.purchase.transactionID))
                    ?? tables.row(of: key)
                guard let grant else {
                    found.append(Violation(.granted, "\(key) of claim \(claim.number) is paid, and not granted"))
                    continue
                }
                let told = witness.events.contains {
                    $0.topic == .granted && $0.id == GrantedEvent.id(of: grant.key.grantID)
                }
                if !told { found.append(Violation(.told, "\(key) is granted, and nobody was told")) }
            }
        }
    }

    /// Whether a claim is sure to be granted, whichever order things come in.
    private func isRightful(_ claim: ScriptedClaim) -> Bool {
        guard witness.abandonments[claim.claimant.submissionKey] == nil else { return false }
        switch claim.truth {
        case .genuine, .late, .held, .growing: break
        case .forged, .changing, .never: return false
        }
        // A claim that failed under the same id and content stays failed; nothing here fails one that is genuine but another
        // order's or another user's grant, and then the purchase has its grant.
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
        var contents: [SubmissionKey: Set<Int>] = [:]
        for claim in witness.script.claims { contents[claim.claimant.submissionKey, default: []].insert(claim.number) }
        var failed: Set<SubmissionKey> = []
        for event in witness.events where event.topic == .failed {
            failed.insert(SubmissionKey(bundleID: event.bundleID, submissionID: event.submissionID))
        }
        for event in witness.events where event.topic == .granted && !event.isRepeat {
            let key = SubmissionKey(bundleID: event.bundleID, submissionID: event.submissionID)
            if failed.contains(key), contents[key]?.count == 1 {
                found.append(Violation(.oneAnswer, "\(key) was told granted and failed"))
            }
        }
    }

    /// Each record that was produced is complete, each row is told.
    private func everythingTold(_ found: inout [Violation]) {
        for grant in tables.allGrants where witness.firstByID[GrantedEvent.id(of: grant.key.grantID)] == nil {
            found.append(Violation(.told, "\(grant.reference) is granted, and nobody was told"))
        }
        for answer in tables.allAnswers {
            guard case .failed(let failure) = answer else { continue }
            let id = FailedEvent.id(
                bundleID: failure.claimant.bundleID, submissionID: failure.claimant.submissionID)
            if witness.firstByID[id] == nil {
                found.append(Violation(.told, "\(failure.claimant.submissionKey) failed, and nobody was told"))
            }
        }
    }

    /// A doubt that became a failure had five doubting answers, and six hours between the first and the last.
    private func doubts(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        for answer in tables.allAnswers {
            guard case .failed(let failure) = answer, let number = ScriptedClaim.number(of: failure.claimant),
                witness.script.claims.indices.contains(number), case .never(let rejection) = apple.claims[number].truth,
                failure.reason == rejection.reason.rawValue,
                witness.abandonments[failure.claimant.submissionKey] == nil
            else { continue }
            let answers = apple.doubts[number] ?? []
            let span = (answers.last ?? 0) - (answers.first ?? 0)
            if answers.count < 5 || span < 6 * 3_600_000 {
                found.append(
                    Violation(.doubt, "claim \(number) failed after \(answers.count) answers in \(span) ms"))
            }
        }
    }

    /// No grant of an abandoned submission is newer than its abandonment.
    private func abandoned(_ found: inout [Violation]) {
        guard !wasSetBack else { return }
        for (key, moment) in witness.abandonments.sorted(by: { $0.key < $1.key }) {
            // Other content under the id was not abandoned.
            let contents = witness.script.claims.filter { $0.claimant.submissionKey == key }
            guard contents.count == 1 else { continue }
            // Workers' clocks are off by up to 200 ms.
            let late = tables.rows(of: key).filter {
                $0.grantedAt.milliseconds > World.wallStart + moment + 200
            }
            if let grant = late.first {
                found.append(Violation(.abandoned, "\(key) was abandoned, and \(grant.reference) is granted"))
            }
        }
    }

    /// Whichever endpoint of Apple's is away, signed evidence is answered within a second, where nothing else goes wrong.
    private func isolated(_ found: inout [Violation]) {
        guard isCalm else { return }
        var first: [SubmissionKey: Int64] = [:]
        for (number, moment) in witness.producedAt {
            guard case .claim(let claim) = witness.script.records[number].content, claim.endpoints.isEmpty,
                !claim.owesCall
            else { continue }
            let key = claim.claimant.submissionKey
            first[key] = min(first[key] ?? .max, moment)
        }
        for (key, moment) in first.sorted(by: { $0.key < $1.key }) where moment > World.settled {
            guard let answered = witness.answeredAt[key] else { continue }
            if answered - moment > 1000 {
                found.append(Violation(.isolation, "\(key) waited for \(answered - moment) ms"))
            }
        }
    }
}
