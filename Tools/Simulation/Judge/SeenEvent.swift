import Contract
import Ledger

/// An event as a consumer of the topics reads it, from its bytes alone.
final class SeenEvent {
    let topic: Topic
    let id: EventID
    /// Key, value and headers without the mark of a repeat.
    let bytes: Event
    let text: String
    private(set) var environment: Environment?
    private(set) var transactionID: TransactionID = ""
    private(set) var originalTransactionID: TransactionID = ""
    private(set) var userID: UserID = ""
    private(set) var submissionID: SubmissionID = ""
    private(set) var bundleID: BundleID = ""
    private(set) var orderID: OrderID?
    private(set) var reason = ""
    private(set) var verifiedBy = ""
    /// The time of a pending event, as it is written.
    private(set) var pendingAt = ""
    /// Where a quarantined record came from.
    private(set) var origin: Origin?
    /// A copy without the mark of a repeat was seen.
    var isTold = false

    init(_ event: Event) {
        topic = event.topic
        id = event.id
        bytes = Self.withoutMark(event)
        if event.topic == .quarantined {
            text = ""
            origin = Self.origin(event)
        } else {
            text = String(decoding: event.value ?? [], as: UTF8.self)
            read(event.value ?? [])
        }
    }

    static func isRepeat(_ event: Event) -> Bool {
        event.headers.contains { $0.name == GrantedEvent.repeatHeader }
    }

    /// The submission that a copy was asked for by.
    static func mark(_ event: Event) -> SubmissionID? {
        event.headers.last { $0.name == GrantedEvent.repeatHeader }?.value
            .map { SubmissionID(String(decoding: $0, as: UTF8.self)) }
    }

    static func withoutMark(_ event: Event) -> Event {
        guard isRepeat(event) else { return event }
        return Event(
            id: event.id, topic: event.topic, key: event.key,
            headers: event.headers.filter { $0.name != GrantedEvent.repeatHeader }, value: event.value)
    }

    var reference: GrantReference? {
        environment.map { GrantReference(environment: $0, transactionID: transactionID) }
    }

    var submission: SubmissionKey { SubmissionKey(bundleID: bundleID, submissionID: submissionID) }

    /// Reads the members that are texts; nothing that the script writes needs an escape.
    private func read(_ json: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        var place = 0
        func nextText() -> Range<Int>? {
            guard place < json.count, json[place] == quote else { return nil }
            let start = place + 1
            place = start
            while place < json.count, json[place] != quote { place += 1 }
            defer { place += 1 }
            return start..<place
        }
        while place < json.count {
            guard json[place] == quote else {
                place += 1
                continue
            }
            guard let name = nextText(), place < json.count, json[place] == UInt8(ascii: ":") else { continue }
            place += 1
            guard let value = nextText() else { continue }
            take(String(decoding: json[name], as: UTF8.self), json[value])
        }
    }

    private func take(_ name: String, _ value: ArraySlice<UInt8>) {
        var text: String { String(decoding: value, as: UTF8.self) }
        switch name {
        case "environment": environment = Environment(rawValue: text)
        case "transactionId": transactionID = TransactionID(text)
        case "originalTransactionId": originalTransactionID = TransactionID(text)
        case "userId": userID = UserID(text)
        case "submissionId": submissionID = SubmissionID(text)
        case "orderId": orderID = OrderID(text)
        case "bundleId": bundleID = BundleID(text)
        case "reason": reason = text
        case "verifiedBy": verifiedBy = text
        case "pendingAt": pendingAt = text
        default: break
        }
    }

    private static func origin(_ event: Event) -> Origin? { QuarantineLabel(event.headers)?.origin }
}
