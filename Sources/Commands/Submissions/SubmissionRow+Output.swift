import Contract
import Ledger

/// A submission's row in a list, for people and as JSON.
extension SubmissionRow {
    static let header = [
        "SUBMISSION", "STATE", "CAUSE", "APP", "USER", "ORDER", "TRANSACTION", "PRODUCT", "ENVIRONMENT", "RECEIVED",
        "DECIDED", "NEXT TRY", "ATTEMPTS",
    ]

    /// - Parameter now: Moments of the next try are shown relative to it.
    func cells(now: Timestamp) -> [String] {
        [
            claimant.submissionID.rawValue, state.rawValue, cause ?? "-",
            claimant.bundleID.rawValue.isEmpty ? "-" : claimant.bundleID.rawValue, claimant.userID.rawValue,
            claimant.orderID?.rawValue ?? "-", transactionID?.rawValue ?? "-", productID?.rawValue ?? "-",
            // Nearly all are of production, and a column that says nothing is left out.
            environment == .sandbox ? "sandbox" : "-",
            receivedAt?.rfc3339 ?? "-", decidedAt?.rfc3339 ?? "-",
            dueAt.map { NextTry(dueAt: $0, isLeased: isLeased, now: now).short } ?? "-",
            state == .repeated ? "-" : String(attempts),
        ]
    }

    /// - Parameters:
    ///   - owed: The rows that the outbox has of it.
    ///   - answering: Of a repeat the grant that answers it, if that was found as well.
    ///   - checkpoints: As of the moment at which this row was read.
    func words(
        owed: [OutboxRow], answering: SubmissionRow? = nil, _ checkpoints: Checkpoints, now: Timestamp
    ) -> SubmissionWords {
        SubmissionWords(
            state: state, isImported: isImported, isTest: decidedAt != nil && environment == .sandbox,
            isUnpassed: checkpoints.isUnpassed(origin), decidedAt: decidedAt, isSigned: isSigned,
            order: claimant.orderID,
            transaction: transactionID, answering: answering, cause: cause, detail: detail,
            next: dueAt.map { NextTry(dueAt: $0, isLeased: isLeased, now: now) }, owed: owed,
            passedOver: passedOver.map { [$0] } ?? [], now: now)
    }

    var json: JSONOutput { .object(members) }

    var members: [String: JSONOutput] {
        [
            "submissionId": .id(claimant.submissionID), "bundleId": .id(claimant.bundleID),
            "userId": .id(claimant.userID), "orderId": .id(claimant.orderID), "state": .word(state),
            "cause": .text(cause), "detail": .text(detail), "transactionId": .id(transactionID),
            "originalTransactionId": .id(originalTransactionID), "environment": .word(environment),
            "productId": .id(productID),
            "attempts": state == .repeated ? .absent : .count(attempts), "receivedAt": .time(receivedAt),
            "decidedAt": .time(decidedAt), "dueAt": .time(dueAt),
            "isLeased": dueAt == nil ? .absent : .truth(isLeased), "origin": origin.json,
            "passedOver": .list([passedOver].compactMap { $0?.json }),
            "isImported": state == .granted ? .truth(isImported) : .absent,
        ]
    }
}

/// When something that waits is tried again, in words of people. The moment is the ledger's, and the present one this
/// host's.
struct NextTry: Hashable, Sendable {
    let dueAt: Timestamp
    /// Whether a worker is at it; its lease ends when it is due. Behind that moment the worker is gone, and another one
    /// takes it.
    let isLeased: Bool
    let now: Timestamp

    /// For a cell: "now", "in 15 s", "due since 3 min".
    var short: String {
        if isTried { return "now" }
        return isDue ? "due since \(distance)" : "in \(distance)"
    }

    /// For a sentence, behind "is tried again".
    var words: String {
        if isTried { return "now" }
        return isDue ? "soon (due since \(distance))" : "in \(distance), at \(dueAt.rfc3339)"
    }

    var isTried: Bool { isLeased && !isDue }

    private var isDue: Bool { dueAt <= now }

    private var distance: String { Duration.milliseconds(abs(dueAt.milliseconds - now.milliseconds)).rough }
}

extension NextTry {
    init(_ row: OutboxRow, now: Timestamp) { self.init(dueAt: row.dueAt, isLeased: row.isLeased, now: now) }
    init(_ row: RetryRow, now: Timestamp) { self.init(dueAt: row.dueAt, isLeased: row.isLeased, now: now) }
}
