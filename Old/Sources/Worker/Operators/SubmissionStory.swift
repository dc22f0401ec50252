import Ledger
import Purchases

/// A submission with all that came of it, for people and as JSON.
struct SubmissionStory: Sendable {
    let row: SubmissionRow
    let grants: [GrantRow]
    let events: [EventRow]
    /// Nil unless it waits for another try.
    var waiting: WaitingState?
    /// What people did to it.
    var actions: [OperatorAction] = []
    /// What its grants' inventory service was told, or still has to be.
    var deliveries: [DeliveryRow] = []

    /// For people. Nothing is cut, whatever the terminal's width: its ids are there to be copied.
    func text() -> String {
        var text = "Submission \(PrintableText.singleLine(row.claimant.submissionID.rawValue))\n"
        text += "  \(summary)\n\n" + TextFields(fields: claim).text()
        if !row.history.attempts.isEmpty {
            text += "\nTries that decided nothing\n"
            text += TextFields(
                fields: row.history.attempts.map {
                    ($0.at.rfc3339, "\($0.cause): \(PrintableText.singleLine($0.detail))")
                }
            ).text()
        }
        if !actions.isEmpty {
            text += "\nWhat people did\n"
            text += TextFields(
                fields: actions.map {
                    (
                        $0.at.rfc3339,
                        PrintableText.singleLine("\($0.kind.rawValue) by \($0.note.actor): \($0.note.reason)")
                    )
                }
            ).text()
        }
        for grant in grants {
            text += "\nGrant \(PrintableText.singleLine(grant.grantID.rawValue))\n"
            let delivery = deliveries.first { $0.grantID == grant.grantID }.map { [("delivery", $0.words)] } ?? []
            text += TextFields(fields: Self.fields(of: grant) + delivery).text()
        }
        for event in events {
            text += "\nEvent \(PrintableText.singleLine(event.event.id.rawValue))\n"
            text += TextFields(fields: Self.fields(of: event)).text()
        }
        return text
    }

    /// The answer to "was it granted, and does everybody know?".
    var summary: String {
        if row.outcome == .granted, deliveries.contains(where: \.isOpen) {
            return "The purchase is the user's, but the app's inventory service has not been told of it yet."
        }
        let isTold = !events.isEmpty && events.allSatisfy { $0.publishedAt != nil }
        let news =
            isTold ? "and the event that says so is published" : "but Kafka has not taken the event that says so yet"
        switch row.outcome {
        case .granted where grants.count > 1:
            return "\(grants.count) purchases are the user's, "
                + (isTold ? "and their events are published." : "but Kafka has not taken all of their events yet.")
        case .granted: return "The purchase is the user's, \(news)."
        case .failed: return "Nothing was granted, \(news)."
        case .parked: return "Neither granted nor refused yet: Apple cannot tell, and is asked again\(next)."
        case .held where waiting == nil:
            return "Neither granted nor refused: its record is where it came from, and nothing tries it by itself."
        case .held: return "Neither granted nor refused: it waits for our side to be mended, and is tried again\(next)."
        }
    }

    private var next: String {
        guard let waiting else { return "" }
        return waiting.worker.map { " now, by \($0)" } ?? " at \(waiting.dueAt.rfc3339)"
    }

    private var claim: [(name: String, value: String)] {
        let claimant = row.claimant
        let origin = row.origin
        let optional = [
            ("transaction", row.transactionID?.rawValue), ("reason", row.reason), ("detail", row.detail),
            ("trace", claimant.traceparent),
        ]
        return [
            ("app", claimant.bundleID.rawValue), ("user", claimant.userID.rawValue),
            ("order", claimant.orderID?.rawValue ?? "-"), ("received", row.receivedAt.rfc3339),
            ("from", "\(origin.topic), partition \(origin.partition), offset \(origin.offset)"),
            ("settled", "\(row.settledAt.rfc3339), after \(row.attempts) \(row.attempts == 1 ? "try" : "tries")"),
            ("outcome", row.outcome.rawValue),
        ] + optional.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func fields(of row: GrantRow) -> [(name: String, value: String)] {
        let purchase = row.granted.purchase
        return [
            ("product", "\(purchase.productID) (\(row.granted.type.rawValue))"),
            ("quantity", String(purchase.quantity)),
            ("gives", GrantListing.items(row.granted.items)),
            ("transaction", "\(purchase.transactionID), \(purchase.environment.rawValue)"),
            ("original", purchase.originalTransactionID.rawValue),
            ("granted", "\(row.grantedAt.rfc3339) for submission \(row.claimant.submissionID)"),
        ]
    }

    private static func fields(of row: EventRow) -> [(name: String, value: String)] {
        [
            ("topic", row.event.kind.rawValue), ("published", row.publishedAt?.rfc3339 ?? "not published yet"),
        ]
    }

    var json: JSON {
        JSON(
            submission: SubmissionJSON(row),
            grants: grants.map { grant in GrantJSON(grant, deliveries.first { $0.grantID == grant.grantID }) },
            events: events.map { EventJSON($0) },
            nextTryAt: waiting?.dueAt.rfc3339, triedBy: waiting?.worker?.text,
            actions: actions.map { ActionJSON($0) })
    }

    struct JSON: Encodable {
        let submission: SubmissionJSON
        let grants: [GrantJSON]
        let events: [EventJSON]
        let nextTryAt, triedBy: String?
        let actions: [ActionJSON]
    }

    struct List: Encodable {
        let submissions: [JSON]
    }
}

/// What a person did, as JSON.
struct ActionJSON: Encodable {
    let at, action, actor, reason: String

    init(_ action: OperatorAction) {
        at = action.at.rfc3339
        self.action = action.kind.rawValue
        actor = action.note.actor
        reason = action.note.reason
    }
}

/// An event's way to its topic as JSON.
struct EventJSON: Encodable {
    let eventId, topic, state: String
    let publishedAt: String?

    init(_ row: EventRow) {
        eventId = row.event.id.rawValue
        topic = row.event.kind.rawValue
        state = row.state
        publishedAt = row.publishedAt?.rfc3339
    }
}

extension EventRow {
    /// `published` once the broker has acknowledged it.
    var state: String { publishedAt == nil ? "waiting" : "published" }
}
