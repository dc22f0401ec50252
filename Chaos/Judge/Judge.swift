import AppStoreSimulator
import Kafka
import Ledger
import Purchases

/// Something that must not be, with where to look.
struct Violation: Hashable, Sendable, CustomStringConvertible {
    let rule: Rule
    /// Ids and places; never evidence.
    let detail: String

    /// What must hold of every run, whatever went wrong on the way.
    enum Rule: String, CaseIterable, Sendable {
        case answered = "every submission has exactly one kind of answer, and the right one"
        case granted = "every valid claimed purchase has exactly one grant, to one who claimed it, as Apple sold it"
        case nothingElse = "nothing is granted that was not bought and claimed"
        case published = "every event of the ledger is on its topic, and no other is"
        case identical = "every copy of an event is the same to the last byte"
        case quarantined = "every record that cannot be read is in quarantine as it came, once"
        case stopped = "a worker that is asked to stop ends by itself, with exit code 0"
        case drained = "everything is settled and published within the limit after the last fault"
        case audited = "grantor audit finds nothing"
    }

    var description: String { "\(rule.rawValue): \(detail)" }
}

/// Compares what was submitted, what the ledger says and what came on the topics. Pure: it shares nothing with those who
/// submit and those who do harm but the truth about each claim.
struct Judge {
    let submitted: [Submitted]
    let ledger: LedgerContents
    let topics: TopicIndex

    private let holders: [TransactionID: [GrantRow]]
    private let rows: [SubmissionID: [SubmissionRow]]

    init(submitted: [Submitted], ledger: LedgerContents, topics: TopicIndex) {
        self.submitted = submitted
        self.ledger = ledger
        self.topics = topics
        holders = Dictionary(grouping: ledger.grants) { $0.granted.purchase.transactionID }
        rows = Dictionary(grouping: ledger.submissions, by: \.claimant.submissionID)
    }

    /// Everything that is wrong.
    func violations() -> [Violation] {
        answers() + grants() + events() + quarantine()
    }

    private func answers() -> [Violation] {
        var wrong: [Violation] = []
        func complain(_ detail: String) { wrong.append(Violation(rule: .answered, detail: detail)) }
        var seen: Set<SubmissionID> = []
        for claim in submitted.map(\.claim) {
            guard let id = claim.submissionID, seen.insert(id).inserted else { continue }
            guard let row = rows[id]?.first, rows[id]?.count == 1 else {
                complain("\(id) has \(rows[id]?.count ?? 0) rows")
                continue
            }
            let expected = expectation(of: claim)
            let answer = Expected(row, events: topics)
            if answer != expected { complain("\(id) (\(claim.kind.rawValue)): \(answer), not \(expected)") }
        }
        for row in ledger.submissions where !seen.contains(row.claimant.submissionID) {
            complain("\(row.claimant.submissionID) was never submitted")
        }
        return wrong
    }

    /// What the answer has to be, given who has the purchases.
    private func expectation(of claim: Claim) -> Expected {
        switch claim.expectation {
        case .failed(let reason): return .failed(reason.rawValue)
        case .quarantined: return .missing
        case .granted: break
        }
        let ids = claim.transactions.compactMap { holders[$0]?.first?.eventID }
        guard claim.bought.count == 1, let holder = claim.transactions.first.flatMap({ holders[$0]?.first }) else {
            return .granted(Set(ids))
        }
        guard holder.claimant.userID == claim.userID else { return .failed(FailureReason.ownedByAnotherUser.rawValue) }
        if let held = holder.claimant.orderID, let claimed = claim.orderID, held != claimed {
            return .failed(FailureReason.grantedToAnotherOrder.rawValue)
        }
        return .granted(Set(ids))
    }

    private func grants() -> [Violation] {
        var wrong: [Violation] = []
        var claims: [TransactionID: [Claim]] = [:]
        for claim in submitted.map(\.claim) where claim.expectation == .granted {
            for transaction in claim.transactions { claims[transaction, default: []].append(claim) }
        }
        for (transaction, claims) in claims.sorted(by: { $0.key < $1.key }) {
            let rows = holders[transaction] ?? []
            guard let row = rows.first, rows.count == 1 else {
                wrong.append(Violation(rule: .granted, detail: "\(transaction) has \(rows.count) grants"))
                continue
            }
            if let difference = difference(row, claims) {
                wrong.append(Violation(rule: .granted, detail: "\(transaction): \(difference)"))
            }
        }
        for transaction in holders.keys.sorted() where claims[transaction] == nil {
            wrong.append(Violation(rule: .nothingElse, detail: "\(transaction)"))
        }
        return wrong
    }

    /// In what a grant is not as it must be; nil if it is.
    private func difference(_ row: GrantRow, _ claims: [Claim]) -> String? {
        let bought = claims.lazy.flatMap(\.bought).first {
            $0.purchase.transactionID == row.granted.purchase.transactionID
        }
        guard let bought else { return "nobody bought it" }
        let granted = row.granted.purchase
        if !claims.contains(where: { $0.userID == row.claimant.userID && $0.submissionID == row.claimant.submissionID })
        {
            return "granted to \(row.claimant.userID) for \(row.claimant.submissionID), who did not claim it"
        }
        if granted.productID != bought.purchase.productID { return "granted as \(granted.productID)" }
        if granted.quantity != bought.purchase.quantity { return "granted \(granted.quantity) times" }
        if granted.environment != bought.environment { return "granted in \(granted.environment.rawValue)" }
        let unit = Catalogue.items[bought.purchase.productID]
        let items = unit.map { [Item(item: $0.item, quantity: $0.quantity * bought.purchase.quantity)] }
        return row.granted.items == items ? nil : "granted \(row.granted.items)"
    }

    private func events() -> [Violation] {
        var wrong: [Violation] = []
        let names: [EventTopic: String] = [
            .granted: Topic.granted, .failed: Topic.failed, .quarantined: Topic.quarantined,
        ]
        var known: Set<EventID> = []
        for event in ledger.events.map(\.event) {
            known.insert(event.id)
            guard let entry = topics.entries[event.id] else {
                wrong.append(Violation(rule: .published, detail: "\(event.id) (\(event.kind.rawValue)) is on no topic"))
                continue
            }
            if entry.topic != names[event.kind] {
                wrong.append(Violation(rule: .published, detail: "\(event.id) is on \(entry.topic)"))
            }
            let headers = entry.headers.map { EventHeader(name: $0.name, value: $0.value) }
            if entry.hasDifferentCopies || entry.key != event.key || entry.value != event.value
                || headers != event.headers
            {
                wrong.append(Violation(rule: .identical, detail: "\(event.id) on \(entry.topic)"))
            }
        }
        for id in topics.entries.keys.sorted() where !known.contains(id) {
            wrong.append(Violation(rule: .published, detail: "\(id) is not in the ledger"))
        }
        if topics.nameless > 0 {
            wrong.append(Violation(rule: .published, detail: "\(topics.nameless) records have no event id"))
        }
        return wrong
    }

    private func quarantine() -> [Violation] {
        var wrong: [Violation] = []
        var quarantined: [Origin: TopicIndex.Entry] = [:]
        for entry in topics.entries.values where entry.topic == Topic.quarantined {
            guard let origin = Origin(entry) else {
                wrong.append(Violation(rule: .quarantined, detail: "a record does not say where it is from"))
                continue
            }
            if quarantined.updateValue(entry, forKey: origin) != nil {
                wrong.append(Violation(rule: .quarantined, detail: "\(origin) is there twice"))
            }
        }
        for record in submitted where record.claim.expectation == .quarantined {
            let origin = Origin(topic: Topic.submitted, partition: record.partition, offset: record.offset)
            guard let entry = quarantined[origin] else {
                wrong.append(Violation(rule: .quarantined, detail: "\(origin) is missing"))
                continue
            }
            if entry.value != record.message.value || entry.key != record.message.key {
                wrong.append(Violation(rule: .quarantined, detail: "\(origin) was changed"))
            }
        }
        return wrong
    }
}

/// An answer, as it is or as it should be.
private enum Expected: Hashable, CustomStringConvertible {
    case granted(Set<EventID>)
    case failed(String)
    /// It has events of both kinds, none, or a fate that is no answer.
    case wrong(String)
    case missing

    init(_ row: SubmissionRow, events: TopicIndex) {
        let topics = Set(row.eventIDs.compactMap { events.entries[$0]?.topic })
        switch row.outcome {
        case .granted where topics == [Topic.granted]: self = .granted(Set(row.eventIDs))
        case .failed where topics == [Topic.failed] && row.eventIDs.count == 1: self = .failed(row.reason ?? "")
        default: self = .wrong("\(row.outcome.rawValue), with events on \(topics.sorted())")
        }
    }

    var description: String {
        switch self {
        case .granted(let ids): "granted by \(ids.sorted().map(\.rawValue))"
        case .failed(let reason): "failed as \(reason)"
        case .wrong(let text): text
        case .missing: "no answer"
        }
    }
}

extension Origin {
    /// What a quarantined record says of where it is from.
    fileprivate init?(_ entry: TopicIndex.Entry) {
        func text(_ name: String) -> String? {
            entry.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let topic = text("x-origin-topic"), let partition = text("x-origin-partition").flatMap(Int32.init),
            let offset = text("x-origin-offset").flatMap(Int64.init)
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset)
    }
}
