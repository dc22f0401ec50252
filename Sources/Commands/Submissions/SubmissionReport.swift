import Contract
import Ledger

/// One user's submission with everything that came of it, for people and as JSON.
struct SubmissionReport: Sendable {
    let key: SubmissionKey
    let user: UserID
    let record: SubmissionRecord
    /// In order; on all submissions of the id. Nil where nobody asked for them.
    let actions: [OperatorAction]?
    /// As of the moment at which the rows were read.
    let checkpoints: Checkpoints

    /// The ledger's rows of one id, by user: two users with one id have a submission each.
    static func all(
        _ key: SubmissionKey, _ record: SubmissionRecord, actions: [OperatorAction]?, _ checkpoints: Checkpoints
    ) -> [SubmissionReport] {
        let answered = record.answer?.claimant.userID
        var users: [UserID] = []
        for user in record.grants.map(\.grant.userID) + [answered].compactMap(\.self)
            + record.waiting.map(\.submission.userID)
        where !users.contains(user) {
            users.append(user)
        }
        return users.map { user in
            let grants = record.grants.filter { $0.grant.userID == user }
            let answer = answered == user ? record.answer : nil
            let waiting = record.waiting.filter { $0.submission.userID == user }
            let owed = record.owed.filter { row in
                switch row.key {
                case .granted(let reference, _):
                    if case .repeated(let repeated) = answer, repeated.grant == reference { return true }
                    return grants.contains { $0.grant.reference == reference }
                case .failed: return answer != nil
                case .pending(let key): return waiting.contains { $0.key == key }
                case .quarantined: return false
                }
            }
            let own = SubmissionRecord(grants: grants, answer: answer, waiting: waiting, owed: owed, later: 0)
            return SubmissionReport(key: key, user: user, record: own, actions: actions, checkpoints: checkpoints)
        }
    }

    /// The answer to "was it granted, are its events published, and what is to be done?".
    /// - Parameter now: Moments are shown relative to it.
    func words(now: Timestamp) -> SubmissionWords {
        var words = SubmissionWords(
            state: state, grants: record.grants.count,
            isImported: !record.grants.isEmpty && record.grants.allSatisfy { $0.grant.isImported }, isTest: isTest,
            isUnpassed: isUnpassed, decidedAt: decidedAt,
            owed: record.owed, passedOver: passedOver, now: now)
        switch (words.state, record.answer, record.waiting.first) {
        case (.held, _, let row?), (.retrying, _, let row?):
            (words.cause, words.detail) = (row.entry.cause.word, row.entry.detail)
            words.next = NextTry(row, now: now)
            words.isSigned = row.entry.isSigned
        case (.failed, .failed(let failure), _): (words.cause, words.detail) = (failure.reason, failure.detail)
        case (.repeated, .repeated(let repeated), _):
            (words.order, words.transaction) = (repeated.claimant.orderID, repeated.grant.transactionID)
        default: break
        }
        return words
    }

    /// By the first purchase: evidence is of one environment. The claim of a submission that waits proves nothing.
    private var isTest: Bool {
        if let grant = record.grants.first { return grant.grant.environment == .sandbox }
        if case .repeated(let repeated) = record.answer { return repeated.grant.environment == .sandbox }
        return false
    }

    private var isUnpassed: Bool {
        guard record.grants.isEmpty else { return record.grants.contains { checkpoints.isUnpassed($0.grant.origin) } }
        return record.answer.map { checkpoints.isUnpassed($0.origin) } ?? false
    }

    /// The latest of its decisions; nil while it waits.
    private var decidedAt: Timestamp? {
        if let latest = record.grants.map(\.grant.grantedAt).max() { return latest }
        return switch record.answer {
        case .failed(let failure): failure.failedAt
        case .repeated(let repeated): repeated.answeredAt
        case nil: nil
        }
    }

    /// For people. Nothing is cut, whatever the terminal's width: ids are there to be copied.
    func text(now: Timestamp, width: Int? = nil) -> String {
        let app = key.bundleID.rawValue.isEmpty ? "-" : key.bundleID.rawValue
        var text = TextFields.title("Submission", key.submissionID.rawValue)
        text +=
            TextParagraph.text(words(now: now).sentences, width) + "\n"
            + TextFields(fields: [("app", app), ("user", user.rawValue)]).text()
        for row in record.waiting { text += "\n" + WaitingReport(row: row).text(now: now) }
        switch record.answer {
        case .failed(let failure): text += "\nFailure\n" + TextFields(fields: Self.fields(of: failure)).text()
        case .repeated(let repeated): text += "\nAnswer\n" + TextFields(fields: Self.fields(of: repeated)).text()
        case nil: break
        }
        for row in record.grants {
            text += "\n" + TextFields.title("Grant", row.grant.key.grantID.rawValue)
            text += TextFields(fields: Self.fields(of: row.grant)).text()
        }
        for passedOver in passedOver { text += "\nPassed over\n" + TextFields(fields: passedOver.fields).text() }
        if !record.owed.isEmpty {
            text += "\nOwed\n" + TextFields(fields: record.owed.map { OwedReport(row: $0).field(now: now) }).text()
        }
        if let actions, !actions.isEmpty {
            let lines = actions.map {
                ($0.note.at.rfc3339, "\($0.kind.rawValue) by \($0.note.actor): \($0.note.reason)")
            }
            text += "\nOperator actions\n" + TextFields(fields: lines).text()
        }
        return text
    }

    /// Purchases left out beside the grants, or beside the grant that answers it.
    private var passedOver: [PassedOver] {
        if case .repeated(let repeated) = record.answer, let passedOver = repeated.passedOver { return [passedOver] }
        return record.grants.compactMap(\.grant.passedOver)
    }

    private static func fields(of failure: Failure) -> [(name: String, value: String)] {
        let claimant = failure.claimant
        let event = FailedEvent.id(bundleID: claimant.bundleID, submissionID: claimant.submissionID)
        let transaction = failure.transactionID.map { [("transaction", $0.rawValue)] } ?? []
        return claim(claimant, failure.origin)
            + [
                ("failed", "\(failure.failedAt.rfc3339), after \(attempts(failure.attempts))"),
                ("reason", failure.reason), ("detail", failure.detail),
                ("event", event.rawValue),
            ] + transaction
    }

    private static func fields(of repeated: Repeat) -> [(name: String, value: String)] {
        claim(repeated.claimant, repeated.origin)
            + [
                ("answered", repeated.answeredAt.rfc3339),
                ("by grant of", "transaction \(repeated.grant.transactionID), \(repeated.grant.environment.rawValue)"),
            ]
    }

    private static func fields(of grant: Grant) -> [(name: String, value: String)] {
        claim(grant.claimant, grant.origin)
            + [
                ("product", "\(grant.productID) (\(grant.productType.rawValue))"),
                ("quantity", String(grant.quantity)), ("gives", grant.itemsText),
                ("transaction", "\(grant.transactionID), \(grant.environment.rawValue)"),
                ("original", grant.originalTransactionID.rawValue), ("verified by", grant.verifiedBy),
                ("granted", "\(grant.grantedAt.rfc3339), after \(attempts(grant.attempts))"),
                ("event", GrantedEvent.id(of: grant.key.grantID).rawValue),
            ]
    }

    static func claim(_ claimant: Claimant, _ origin: Origin) -> [(name: String, value: String)] {
        [
            ("user", claimant.userID.rawValue), ("order", claimant.orderID?.rawValue ?? "-"),
            ("from", "\(origin.topic), partition \(origin.partition), offset \(origin.offset)"),
        ]
    }

    static func attempts(_ count: Int) -> String { count.of("attempt", "attempts") }
}

extension SubmissionReport {
    /// - Parameters:
    ///   - mostGrants: How many are shown, the oldest; `moreGrants` says how many more there are.
    ///   - mostWaiting: The same of rows that wait, and `moreWaiting`.
    func json(mostGrants: Int = .max, mostWaiting: Int = .max) -> JSONOutput {
        let more = record.grants.count - mostGrants
        let moreWaiting = record.waiting.count - mostWaiting
        var members: [String: JSONOutput] = [
            "submissionId": .id(key.submissionID), "bundleId": .id(key.bundleID), "userId": .id(user),
            "state": .word(state), "isUnpassed": state.isWaiting ? .absent : .truth(isUnpassed),
            "grants": .list(record.grants.prefix(mostGrants).map(\.grant.json)),
            "moreGrants": more > 0 ? .count(more) : .absent,
            "waiting": .list(record.waiting.prefix(mostWaiting).map { WaitingReport(row: $0).json }),
            "moreWaiting": moreWaiting > 0 ? .count(moreWaiting) : .absent,
            "passedOver": .list(passedOver.map(\.json)), "owed": .list(record.owed.map { OwedReport(row: $0).json }),
            "actions": actions.map { JSONOutput.list($0.map(Self.json)) } ?? .absent,
        ]
        switch record.answer {
        case .failed(let failure): members["failure"] = Self.json(failure)
        case .repeated(let repeated): members["repeatOf"] = Self.json(repeated)
        case nil: break
        }
        return .object(members)
    }

    /// A grant counts before all else, and content that waits before a failure under its id.
    var state: SubmissionState {
        if !record.grants.isEmpty { return .granted }
        switch (record.answer, record.waiting.first) {
        case (.repeated, _): return .repeated
        case (_, let row?): return WaitingReport(row: row).state
        case (_, nil): return .failed
        }
    }

    private static func json(_ failure: Failure) -> JSONOutput {
        let claimant = failure.claimant
        return .object([
            "eventId": .id(FailedEvent.id(bundleID: claimant.bundleID, submissionID: claimant.submissionID)),
            "userId": .id(claimant.userID), "orderId": .id(claimant.orderID), "reason": .text(failure.reason),
            "detail": .text(failure.detail), "transactionId": .id(failure.transactionID),
            "productId": .id(failure.productID), "attempts": .count(failure.attempts),
            "failedAt": .time(failure.failedAt), "origin": failure.origin.json,
        ])
    }

    /// Another submission's grant that answers this one.
    private static func json(_ repeated: Repeat) -> JSONOutput {
        .object([
            "environment": .word(repeated.grant.environment), "transactionId": .id(repeated.grant.transactionID),
            "userId": .id(repeated.claimant.userID), "orderId": .id(repeated.claimant.orderID),
            "answeredAt": .time(repeated.answeredAt), "origin": repeated.origin.json,
        ])
    }

    private static func json(_ action: OperatorAction) -> JSONOutput {
        .object([
            "at": .time(action.note.at), "action": .word(action.kind), "actor": .text(action.note.actor),
            "reason": .text(action.note.reason),
        ])
    }
}

/// A row of `retries`, for people and as JSON.
struct WaitingReport: Sendable {
    let row: RetryRow

    func text(now: Timestamp) -> String {
        let next = NextTry(row, now: now)
        var fields = SubmissionReport.claim(row.submission.claimant, row.submission.origin)
        fields += [
            ("received", row.submission.receivedAt.rfc3339), ("cause", row.entry.cause.word),
            ("detail", row.entry.detail), ("attempts", String(row.attempts)),
            (next.isTried ? "tried now, until" : "due", row.dueAt.rfc3339), ("next try", next.short),
        ]
        if let endpoint = row.entry.cause.endpoint { fields.append(("endpoint", endpoint.text)) }
        if let doubt = row.entry.doubt {
            fields.append(("doubt", "\(doubt.replies) doubting replies in \(doubt.elapsed / 1000) s"))
        }
        var text = (state == .held ? "Held" : "Retrying") + "\n" + TextFields(fields: fields).text()
        let attempts = row.entry.history.attempts
        if !attempts.isEmpty {
            text += "\nAttempts that decided nothing\n"
            text += TextFields(fields: attempts.map { ($0.at.rfc3339, "\($0.cause): \($0.detail)") }).text()
        }
        return text
    }

    var state: SubmissionState {
        switch row.entry.cause {
        case .retrying: .retrying
        case .held: .held
        }
    }

    var json: JSONOutput {
        let history = row.entry.history.attempts.map { attempt in
            JSONOutput.object([
                "at": .time(attempt.at), "cause": .text(attempt.cause), "detail": .text(attempt.detail),
            ])
        }
        return .object([
            "state": .word(state), "cause": .text(row.entry.cause.word), "detail": .text(row.entry.detail),
            "endpoint": .text(row.entry.cause.endpoint?.text), "userId": .id(row.submission.userID),
            "orderId": .id(row.submission.orderID), "transactionId": .id(row.submission.claim.transactionID),
            "environment": .word(row.submission.claim.environment), "receivedAt": .time(row.submission.receivedAt),
            "attempts": .count(row.attempts), "dueAt": .time(row.dueAt), "isLeased": .truth(row.isLeased),
            "history": .list(history), "origin": row.submission.origin.json,
        ])
    }
}

/// A row of `outbox`, for people and as JSON.
struct OwedReport: Sendable {
    let row: OutboxRow

    func field(now: Timestamp) -> (name: String, value: String) {
        let next = NextTry(row, now: now).words
        let answer = answer.map { "; \($0)" } ?? ""
        return (kind, "\(target), tried \(next), after \(SubmissionReport.attempts(row.attempts))\(answer)")
    }

    /// The service's latest answer to a call.
    var answer: String? { row.answer.map { ($0.isRefusal ? "refused, " : "") + $0.words } }

    var kind: String {
        if row.step == .call { return "fulfilment call" }
        return switch row.key {
        case .granted(_, repeatOf: nil): "granted event"
        case .granted: "copy of a granted event"
        case .failed: "failed event"
        case .pending: "pending event"
        case .quarantined: "quarantined record"
        }
    }

    var target: String {
        switch row.target {
        case .topic(let topic): "topic \(topic.rawValue)"
        case .service(let bundleID): "inventory service of \(bundleID)"
        }
    }

    var json: JSONOutput { .object(members) }

    var members: [String: JSONOutput] {
        [
            "owes": .text(kind), "step": .word(row.step), "target": .text(target), "dueAt": .time(row.dueAt),
            "owedSince": .time(row.owedSince), "isLeased": .truth(row.isLeased), "attempts": .count(row.attempts),
            "answer": .text(row.answer?.words), "isRefused": row.answer.map { .truth($0.isRefusal) } ?? .absent,
        ]
    }
}
