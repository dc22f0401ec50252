import Ledger
import Purchases

/// A submission with all that came of it, for people and as JSON.
struct SubmissionStory: Sendable {
    let row: SubmissionRow
    let grants: [GrantRow]
    let events: [EventRow]

    func text(width: Int?) -> String {
        let claimant = row.claimant
        var fields: [(name: String, value: String)] = [
            ("app", claimant.bundleID.rawValue), ("user", claimant.userID.rawValue),
            ("order", claimant.orderID?.rawValue ?? "-"), ("outcome", row.outcome.rawValue),
        ]
        if let reason = row.reason { fields.append(("reason", reason)) }
        if let detail = row.detail { fields.append(("detail", detail)) }
        let origin = row.origin
        fields.append(("received", row.receivedAt.rfc3339))
        fields.append(("from", "\(origin.topic), partition \(origin.partition), offset \(origin.offset)"))
        fields.append(
            ("settled", "\(row.settledAt.rfc3339), after \(row.attempts) \(row.attempts == 1 ? "try" : "tries")"))
        if let traceparent = claimant.traceparent { fields.append(("trace", traceparent)) }
        var text = "Submission \(PrintableText.singleLine(claimant.submissionID.rawValue))\n"
        text += TextFields(fields: fields).text()
        if !grants.isEmpty { text += "\nGrants\n" + GrantListing(rows: grants, next: nil).text(width: width) }
        if !events.isEmpty { text += "\nEvents\n" + eventTable.text(maxWidth: width) }
        return text
    }

    private var eventTable: TextTable {
        TextTable(
            header: ["EVENT", "TOPIC", "STATE", "COPIES", "PUBLISHED"],
            rows: events.map { row in
                [
                    row.event.id.rawValue, row.event.kind.rawValue, row.state,
                    "\(row.copiesPublished)/\(row.copiesRequested)", row.publishedAt?.rfc3339 ?? "-",
                ]
            })
    }

    var json: JSON {
        JSON(
            submission: SubmissionJSON(row), grants: grants.map { GrantJSON($0) }, events: events.map { EventJSON($0) })
    }

    struct JSON: Encodable {
        let submission: SubmissionJSON
        let grants: [GrantJSON]
        let events: [EventJSON]
    }

    struct List: Encodable {
        let submissions: [JSON]
    }
}

/// An event's way to its topic as JSON.
struct EventJSON: Encodable {
    let eventId, topic, state: String
    let copiesRequested, copiesPublished: Int64
    let publishedAt: String?

    init(_ row: EventRow) {
        eventId = row.event.id.rawValue
        topic = row.event.kind.rawValue
        state = row.state
        copiesRequested = row.copiesRequested
        copiesPublished = row.copiesPublished
        publishedAt = row.publishedAt?.rfc3339
    }
}

extension EventRow {
    /// `published` once every copy that was asked for is acknowledged.
    var state: String { copiesPublished < copiesRequested ? "waiting" : "published" }
}
