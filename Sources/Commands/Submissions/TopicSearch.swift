import CommandParser
import Configuration
import Contract
import Kafka
import Ledger

/// A look for a word on the topics. Where the ledger has nothing of it, people may look for a record: one that workers
/// are not through with, or could not read.
struct TopicSearch: Sendable {
    /// Most records that are looked at: the latest quarantined ones of each partition, and the first unfinished ones.
    static let mostOfPartition = 1000

    struct Hit: Sendable {
        enum State: Sendable {
            /// - Parameter before: How many of its partition come before it.
            case unfinished(before: Int64)
            case quarantined(QuarantinedRecord)
        }

        let place: Origin
        let at: Timestamp?
        let state: State

        /// The place of what was quarantined.
        fileprivate var origin: String? { if case .quarantined(let record) = state { record.origin } else { nil } }
    }

    /// The latest first.
    private(set) var hits: [Hit] = []
    /// Quarantined records that were looked at.
    private(set) var quarantined = 0
    /// Unfinished records that were looked at, and that there are.
    private(set) var (looked, unfinished) = (0, 0)

    /// - Parameters:
    ///   - next: Of each partition the first offset that is not complete, as the ledger has it.
    ///   - limit: Most hits.
    init(
        _ word: String, limit: Int, next: [TopicPartition: Int64], input: any InputTopic,
        quarantine: any QuarantineTopic
    ) throws(KafkaError) {
        let word = Array(word.utf8)
        var firsts: [Int32: Int64] = [:]
        unfinished = try input.unfinished(from: next, Self.mostOfPartition) { record in
            looked += 1
            let first = firsts[record.origin.partition] ?? record.origin.offset
            firsts[record.origin.partition] = first
            guard Self.stands(word, in: record) else { return }
            let state = Hit.State.unfinished(before: record.origin.offset - first)
            hits.append(Hit(place: record.origin, at: record.timestamp, state: state))
        }
        try quarantine.latest(Self.mostOfPartition) { record in
            quarantined += 1
            guard Self.stands(word, in: record) else { return }
            let shown = QuarantinedRecord(record)
            hits.append(Hit(place: record.origin, at: shown.at, state: .quarantined(shown)))
        }
        // A partition's first offset that is not complete may stand before a record that is.
        let answered = Set(hits.compactMap(\.origin))
        hits.removeAll { answered.contains("\($0.place)") }
        hits.sort { ($0.at ?? .distantPast, $0.place.offset) > ($1.at ?? .distantPast, $1.place.offset) }
        hits = Array(hits.prefix(limit))
    }

    /// Whether a word is a record's key, or stands in its value as a whole word. The value may be anything, so it is
    /// not read as a submission.
    private static func stands(_ word: [UInt8], in record: InputRecord) -> Bool {
        if record.key == word { return true }
        guard let value = record.value, let first = word.first, value.count >= word.count else { return false }
        return value.withUnsafeBufferPointer { value in
            (0...value.count - word.count).contains { place in
                let end = place + word.count
                return value[place] == first && value[place..<end].elementsEqual(word)
                    && (place == 0 || !isPartOfWord(value[place - 1]))
                    && (end == value.count || !isPartOfWord(value[end]))
            }
        }
    }

    /// Characters of ids, and of Base64, in which short ids would be found by chance.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
            true
        default: "-_.+/=".utf8.contains(byte)
        }
    }

    var json: JSONOutput {
        .list(
            hits.map { hit in
                let own: [String: JSONOutput] =
                    switch hit.state {
                    case .unfinished(let before): ["state": "unfinished", "recordsBefore": .number(before)]
                    case .quarantined(let record): ["state": "quarantined", "reason": .text(record.reason)]
                    }
                return .object(own.merging(["record": .text("\(hit.place)"), "at": .time(hit.at)]) { own, _ in own })
            })
    }

    func text(_ word: String, width: Int?) -> String {
        hits.map { $0.text(word, width: width) }.joined(separator: "\n")
    }

    /// Behind "nothing in the ledger has the id".
    var nothing: String {
        let rest = unfinished > looked ? "the first \(looked) of \(unfinished)" : "one of the \(unfinished)"
        let none =
            "nor \(rest) records that workers are not through with, nor one of the \(quarantined) latest quarantined ones"
        return unfinished > looked
            ? "\(none): it may stand further behind, or was never submitted"
            : "\(none): it was never submitted, or under another id"
    }
}

extension TopicSearch.Hit {
    fileprivate func text(_ word: String, width: Int?) -> String {
        let (title, sentences, facts) = words
        let found = ["found on \(place)"] + facts + (at.map { ["at \($0.rfc3339)"] } ?? [])
        return PrintableText.singleLine("\(word)  \(title)") + "\n" + TextParagraph.text(sentences, width)
            + TextParagraph.text([found.joined(separator: ", ")], width)
    }

    private var words: (title: String, sentences: [String], facts: [String]) {
        switch state {
        case .unfinished(let before):
            (
                "not decided yet",
                [
                    "It was submitted. A worker has not read it yet, or verifies it now.",
                    before == 0
                        ? "Nothing of its partition waits before it."
                        : "Before it \(Int(before).of("record", "records")) of its partition \(before == 1 ? "waits" : "wait").",
                    "Ask again in a minute. If it still stands here, see grantor workers list and the worker's log.",
                    "Tell the player: \"\(SubmissionWords.whileInDoubt)\"",
                ], []
            )
        case .quarantined(let record):
            (
                "quarantined: \(record.reason)",
                [
                    "It was submitted, and no worker can read it: nothing was verified, and no event tells the backend.",
                    "To do: mend the program that writes such records, and let it submit the purchase again.",
                    "grantor quarantine show \(record.place.text) shows the record.",
                    "Tell the player: \"A fault of ours holds this purchase up. We look into it.\"",
                ], ["came as \(record.origin)"]
            )
        }
    }
}
