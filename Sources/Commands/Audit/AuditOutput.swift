import Audit
import CommandParser
import Contract

/// An audit's report for people and as JSON.
struct AuditOutput {
    let report: AuditReport
    /// Events that were put into the outbox; nil if nobody asked for it.
    let repaired: Int?
    /// Where the checkpoint's file would have begun, if an option made it begin later.
    var skippedFrom: Timestamp?

    private var broken: Int { report.found.reduce(0) { $1.key.isBroken ? $0 + $1.value : $0 } }
    private var all: Int { report.found.values.reduce(0, +) }
    /// Things that are still broken once the outbox is empty.
    private var left: Int { broken - (repaired ?? 0) }

    /// How the command ends, with the line that says so; nil for 0.
    var end: CommandFailure? {
        switch report.verdict {
        case .holds: nil
        case .broken where left > 0:
            CommandFailure(
                .failed,
                repaired.map {
                    "\($0) of \(broken) inconsistencies are mended by events in the outbox, \(left) are not"
                }
                    ?? "\(broken.of("thing is not as it has", "things are not as they have")) to be")
        case .broken where report.unseen.isEmpty: nil
        case .broken, .incomplete:
            CommandFailure(.incomplete, "not everything was looked at, and nothing is said about the rest")
        }
    }

    var json: JSONOutput {
        let found = Dictionary(uniqueKeysWithValues: report.found.map { ($0.rawValue, JSONOutput.count($1)) })
        return .object([
            "verdict": .word(report.verdict), "startedAt": .time(report.startedAt), "since": .time(report.since),
            "skippedFrom": .time(skippedFrom), "next": .time(report.next), "counts": report.counts.json,
            "found": .object(found),
            "inconsistencies": .list(report.inconsistencies.map(\.json)),
            "notLookedAt": .list(report.unseen.map(\.json)),
            "repaired": repaired.map { .count($0) } ?? .absent,
        ])
    }

    func text(limit: Int, width: Int?) -> String {
        var text = headline + "\n"
        if let skippedFrom, let since = report.since {
            text += "Nothing is said of \(skippedFrom) to \(since), which --since left out.\n"
        }
        text += TextFields(fields: report.counts.fields.map { ($0.name, "\($0.count)") }).text()
        if !report.found.isEmpty {
            let rows = Inconsistency.Kind.allCases.compactMap { kind in
                report.found[kind].map { ["\($0)", kind.rawValue, kind.words] }
            }
            text += "\n" + TextTable(header: ["FOUND", "KIND", "MEANING"], rows: rows).text(maxWidth: width)
        }
        let named = report.inconsistencies.prefix(limit)
        if !named.isEmpty {
            let header = ["KIND", "APP", "SUBMISSION", "USER", "TRANSACTION", "WHERE", "DETAIL"]
            let table = TextTable(header: header, rows: named.map(\.cells)).withoutEmptyColumns()
            text += "\n" + table.text(maxWidth: width)
            if all > named.count { text += "\(all - named.count) more; --json names them.\n" }
        }
        if !report.unseen.isEmpty {
            let rows = report.unseen.map {
                [$0.reason.rawValue, $0.what, $0.count.map { "\($0)" } ?? "-", $0.detail ?? "-"]
            }
            let table = TextTable(header: ["NOT LOOKED AT", "WHAT", "COUNT", "DETAIL"], rows: rows)
            text += "\n" + table.withoutEmptyColumns().text(maxWidth: width)
        }
        if let repaired {
            text +=
                repaired == 1
                ? "\n1 event is in the outbox; workers publish it.\n"
                : "\n\(repaired) events are in the outbox; workers publish them.\n"
        }
        return text
    }

    private var headline: String {
        let scope = report.since.map { " since \($0)" } ?? ""
        return switch report.verdict {
        case .holds: "Holds: everything\(scope) was looked at."
        case .broken: "Broken: \(broken.of("inconsistency", "inconsistencies"))\(scope)."
        case .incomplete where report.isOfAnother && !report.found.isEmpty:
            "Incomplete: the ledger is not of these settings, so what was found\(scope) says nothing."
        case .incomplete: "Incomplete: what was looked at\(scope) holds, and something was not looked at."
        }
    }
}

extension AuditReport.Counts {
    fileprivate var fields: [(name: String, member: String, count: Int)] {
        [
            ("complete records", "records", records), ("records to come", "openRecords", openRecords),
            ("grants", "grants", grants), ("failures", "failures", failures), ("repeats", "repeats", repeats),
            ("waiting", "waiting", waiting), ("owed", "owed", owed), ("events on topics", "events", events),
            ("quarantined", "quarantined", quarantined), ("rows to be told", "openRows", openRows),
            ("of a later version", "later", later),
        ]
    }

    fileprivate var json: JSONOutput {
        .object(Dictionary(uniqueKeysWithValues: fields.map { ($0.member, JSONOutput.count($0.count)) }))
    }
}

extension Inconsistency.Kind {
    /// For people.
    var words: String {
        switch self {
        case .recordWithoutOutcome: "a record was passed, and nothing tells what became of it"
        case .quarantineUntold: "an unreadable record was passed, and is not on the quarantine topic"
        case .grantUntold: "a grant's event is not on its topic, and not owed"
        case .failureUntold: "a failure's event is not on its topic, and not owed"
        case .eventWithoutRow: "a record of a topic of events that no row tells"
        case .eventAltered: "an event with other bytes than its row makes, or on another topic"
        case .keyTwice: "two rows make one event id"
        case .purchaseGrantedTwice: "two grants have one transaction"
        case .answerWithoutGrant: "the grant that answers a submission is not there"
        case .answerOfAnotherUser: "a submission is answered with another user's grant"
        case .toldBeforeCall: "an event is on its topic, and its fulfilment call is still owed"
        case .owedWithoutRow: "the outbox owes the event of a row that is not there"
        case .overdue: "the outbox has owed it for more than 15 minutes"
        case .decidedAgain: "an event that says the same, decided at another moment: harmless"
        }
    }
}

extension Inconsistency {
    fileprivate var cells: [String] {
        let transaction = transactionID.map { "\($0)" + (environment == .sandbox ? " (sandbox)" : "") }
        return [
            kind.rawValue, app.flatMap { $0.rawValue.isEmpty ? nil : $0.rawValue } ?? "-",
            submissionID?.rawValue ?? "-", userID?.rawValue ?? "-",
            transaction ?? "-", place.map { "\($0)" } ?? "-", detail ?? "-",
        ]
    }

    fileprivate var json: JSONOutput {
        .object([
            "kind": .word(kind), "bundleId": .id(app), "submissionId": .id(submissionID), "userId": .id(userID),
            "transactionId": .id(transactionID), "environment": .word(environment), "topic": .text(place?.topic),
            "partition": place.map { .number(Int64($0.partition)) } ?? .absent,
            "offset": place.map { .number($0.offset) } ?? .absent, "eventId": .id(eventID), "detail": .text(detail),
            "mendable": .truth(mend != nil),
        ])
    }
}

extension Unseen {
    fileprivate var json: JSONOutput {
        .object([
            "reason": .word(reason), "what": .text(what), "count": count.map { .count($0) } ?? .absent,
            "detail": .text(detail),
        ])
    }
}
