import AppStore
import Contract
import Fulfilment
import Ledger
import Processing

/// The work of a checker thread, one task at a time.
enum SubmissionCheck {
    /// - Parameter now: Wall-clock time.
    static func perform(_ task: CheckTask, at now: Timestamp) -> CheckResult {
        let parts = task.apps.parts
        switch task.work {
        case .record(let record, let known): return check(record, known, parts, at: now)
        case .quarantine(let record, let reason): return quarantine(record, reason)
        case .submission(var submission):
            let outcome = parts.checker.check(&submission, isRow: true, at: now)
            return result(of: submission, outcome, parts)
        case .signature(let submission, let mayDecide): return signature(of: submission, mayDecide, parts, at: now)
        case .reply(_, let question):
            return .reply(AttemptResult(question.apple.checked(with: parts.verifiers, at: now)))
        }
    }

    private static func check(
        _ record: InputRecord, _ known: KnownOutcome?, _ parts: VerificationParts, at now: Timestamp
    ) -> CheckResult {
        switch SubmissionReading(record, now: now) {
        case .unreadable(let reason): return quarantine(record, reason)
        case .malformed(let malformed):
            let isKnown = known?.isOf(malformed.claimant, malformed.digest) ?? false
            return isKnown ? .known(.publish) : .malformed(malformed)
        case .submission(var submission):
            if let known, known.isOf(submission.claimant, ClaimDigest(of: submission)) {
                return .known(parts.checker.rules(of: submission.bundleID)?.app.repeats ?? .publish)
            }
            let outcome = parts.checker.check(&submission, at: now)
            return result(of: submission, outcome, parts)
        }
    }

    private static func quarantine(_ record: InputRecord, _ reason: QuarantineReason) -> CheckResult {
        .unreadable(
            QuarantinedEvent.event(of: record, reason: reason.words),
            QuarantineStub(of: record, reason: reason.words), reason.kind)
    }

    private static func result(
        of submission: Submission, _ outcome: LocalChecker.Outcome, _ parts: VerificationParts
    ) -> CheckResult {
        let app = parts.checker.rules(of: submission.bundleID)
        let further = DecisionOptions(
            owesCall: parts.services[submission.bundleID].map { !$0.service.isEnding } ?? false,
            repeats: app?.app.repeats ?? .publish,
            doubtsNothingNew: app?.repliesMayLag(for: submission) ?? false)
        let check: LocalCheck =
            switch outcome {
            case .concluded(let verdict): .concluded(verdict)
            case .ask(let question):
                .ask(
                    Question(question),
                    lookUp: question.lookedUpTransaction.map { transaction in
                        GrantLookup(
                            bundleID: submission.bundleID, userID: submission.userID, transactionID: transaction,
                            environment: submission.claim.environment, orderID: submission.orderID,
                            productID: submission.claim.productID)
                    },
                    isSigned: submission.evidence.isSigned(receipts: app?.receipts))
            }
        return .submission(submission, further, check)
    }

    /// Only a "yes" of the signature decides, where the app's rules say so.
    private static func signature(
        of submission: Submission, _ mayDecide: Bool, _ parts: VerificationParts, at now: Timestamp
    ) -> CheckResult {
        guard parts.checker.isSigned(submission) else { return .signature(holds: false, nil) }
        let policy = parts.checker.rules(of: submission.bundleID)?.app.whenVerifyReceiptUnavailable
        guard mayDecide, policy == .local,
            case .concluded(let verdict) = parts.checker.checkBySignature(submission, at: now),
            case .verified = verdict
        else { return .signature(holds: true, nil) }
        return .signature(holds: true, verdict)
    }
}

extension Evidence {
    /// Whether evidence that has passed its local check has Apple's signature; nil if that check does not verify it.
    fileprivate func isSigned(receipts method: ReceiptMethod?) -> Bool? {
        switch self {
        case .transactionID: false
        case .signedTransaction: true
        case .receipt: method == .verifyReceipt ? nil : true
        }
    }
}

extension Question {
    init(_ question: any AppleQuestion) { self.init(endpoint: question.endpoint, content: question) }

    /// The worker makes no others.
    var apple: any AppleQuestion {
        guard let question = content as? any AppleQuestion else { preconditionFailure("no question to Apple") }
        return question
    }
}

extension AttemptResult {
    init(_ step: QuestionStep) {
        switch step {
        case .verdict(let verdict): self = .concluded(verdict)
        case .ask(let question): self = .next(Question(question))
        case .check(let question): self = .check(Question(question))
        }
    }
}
