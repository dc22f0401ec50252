import Contract

/// An event as a consumer of the topics reads it: from its bytes alone.
struct SeenEvent {
    let topic: Topic
    let id: EventID
    let at: Int64
    /// Key, value and headers without the mark of a repeat.
    let bytes: Event
    let isRepeat: Bool
    let text: String

    init(_ event: Event, at moment: Int64) {
        topic = event.topic
        id = event.id
        at = moment
        isRepeat = event.headers.contains { $0.name == GrantedEvent.repeatHeader }
        bytes = Event(
            id: event.id, topic: event.topic, key: event.key,
            headers: event.headers.filter { $0.name != GrantedEvent.repeatHeader }, value: event.value)
        text = String(decoding: event.value ?? [], as: UTF8.self)
    }

    /// The text behind a member's name; members stand in a flat object of texts.
    func member(_ name: String) -> String? {
        guard let start = text.utf8.firstRange(of: Array("\"\(name)\":\"".utf8)) else { return nil }
        let rest = text.utf8[start.upperBound...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(rest[..<end])
    }

    var environment: Environment? { member("environment").flatMap(Environment.init) }
    var transactionID: TransactionID { TransactionID(member("transactionId") ?? "") }
    var originalTransactionID: TransactionID { TransactionID(member("originalTransactionId") ?? "") }
    var userID: UserID { UserID(member("userId") ?? "") }
    var submissionID: SubmissionID { SubmissionID(member("submissionId") ?? "") }
    var bundleID: BundleID { BundleID(member("bundleId") ?? "") }
    var reason: String { member("reason") ?? "" }

    func header(_ name: String) -> String? {
        bytes.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Where a quarantined record came from.
    var origin: Origin? {
        guard let topic = header("x-origin-topic"), let partition = header("x-origin-partition").flatMap({ Int32($0) }),
            let offset = header("x-origin-offset").flatMap({ Int64($0) })
        else { return nil }
        return Origin(topic: topic, partition: partition, offset: offset)
    }
}

extension String.UTF8View {
    /// Where bytes stand for the first time.
    fileprivate func firstRange(of wanted: [UInt8]) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            guard let first = self[start...].firstIndex(of: wanted[0]) else { return nil }
            if self[first...].starts(with: wanted) { return first..<index(first, offsetBy: wanted.count) }
            start = index(after: first)
        }
        return nil
    }
}
