import CommandParser
import Configuration
import Contract
import Kafka
import Ledger

/// A look for a word on the topics. A record may have it that workers are not through with, or could not read, and that
/// the ledger has nothing of.
struct TopicSearch: Sendable {
    /// Most records that are looked at: the latest quarantined ones of each partition, and the first unfinished ones.
    static let mostOfPartition = 1000

    struct Hit: Sendable {
        enum State: Sendable {
            /// - Parameter before: At most so many of its partition wait before it.
            case unfinished(before: Int64)
            case quarantined(QuarantinedRecord)
        }

        let place: Origin
        let at: Timestamp?
        /// Nil where none can be read.
        let submission: SubmissionID?
        let state: State

        /// Partition and offset of the quarantined record.
        fileprivate var origin: String? { if case .quarantined(let record) = state { record.origin } else { nil } }
    }

    /// The latest first.
    private(set) var hits: [Hit] = []
    /// More are there than the limit.
    private(set) var hasMore = false
    /// The topics that could not be looked through.
    private(set) var failures: [KafkaError] = []
    /// Records that were looked at.
    private var (unfinished, quarantined) = (0, 0)
    /// Quarantined records are without key and value: no word stands in them.
    private var hasStubs = false
    /// Offsets of either topic that were not.
    private var leftOut: Int64 = 0

    /// - Parameters:
    ///   - next: Of each partition the first offset that is not complete, as the ledger has it.
    ///   - known: Records that the ledger has, and that are no hits.
    ///   - limit: Most hits.
    ///   - now: The moment of the look.
    init(
        _ word: String, limit: Int, next: [TopicPartition: Int64], known: Set<Origin> = [], now: Timestamp,
        input: any InputTopic, quarantine: any QuarantineTopic
    ) {
        let word = RecordWord(word, now: now)
        var firsts: [Int32: Int64] = [:]
        do throws(KafkaError) {
            leftOut += try input.unfinished(from: next, Self.mostOfPartition) { record in
                unfinished += 1
                let first = firsts[record.origin.partition] ?? record.origin.offset
                firsts[record.origin.partition] = first
                guard word.stands(in: record) else { return }
                let state = Hit.State.unfinished(before: record.origin.offset - first)
                hits.append(
                    Hit(
                        place: record.origin, at: record.timestamp, submission: word.submission(in: record),
                        state: state))
            }
        } catch {
            failures.append(error)
        }
        do throws(KafkaError) {
            leftOut += try quarantine.latest(Self.mostOfPartition) { record in
                quarantined += 1
                let shown = QuarantinedRecord(record)
                if shown.isStub { hasStubs = true }
                guard word.stands(in: record) else { return }
                hits.append(
                    Hit(
                        place: record.origin, at: shown.at, submission: word.submission(in: record),
                        state: .quarantined(shown)))
            }
        } catch {
            failures.append(error)
        }
        // A partition's first offset that is not complete may stand before a record that is.
        let answered = Set(hits.compactMap(\.origin))
        hits.removeAll { answered.contains("\($0.place)") || known.contains($0.place) }
        hits.sort { ($0.at ?? .distantPast, $0.place.offset) > ($1.at ?? .distantPast, $1.place.offset) }
        hasMore = hits.count > limit
        hits = Array(hits.prefix(limit))
    }

    var json: JSONOutput {
        .list(
            hits.map { hit in
                let own: [String: JSONOutput] =
                    switch hit.state {
                    case .unfinished(let before): ["state": "unfinished", "recordsBefore": .number(before)]
                    case .quarantined(let record): ["state": "quarantined", "reason": .text(record.reason)]
                    }
                return .object(
                    own.merging([
                        "record": .text("\(hit.place)"), "at": .time(hit.at), "submissionId": .id(hit.submission),
                    ]) { own, _ in own })
            })
    }

    func text(_ word: String, width: Int?) -> String {
        hits.map { $0.text(word, width: width) }.joined(separator: "\n")
            + (hasMore ? "\nMore exist than these \(hits.count); --limit shows more.\n" : "")
    }

    /// Records of the topics behind those that were looked at; nil for none.
    var rest: String? {
        leftOut > 0 ? Int(leftOut).of("more unread or quarantined record", "more unread or quarantined records") : nil
    }

    /// The end of a look without hits, of topics that could all be looked through.
    var nothing: String {
        let looked = "\(unfinished) unread and \(quarantined) quarantined records were looked through"
        guard leftOut == 0 else { return "\(looked): more of them are there" }
        let stub = hasStubs ? "it may be one of the stubs that grantor quarantine list shows, or " : ""
        let end = stub + "it was never submitted, or under another id, or its answer was pruned or erased"
        return "\(looked): \(end)"
    }
}

/// A word that may be an id of a record.
private struct RecordWord {
    private let text: String
    private let bytes: [UInt8]
    private let now: Timestamp

    init(_ text: String, now: Timestamp) {
        (self.text, self.now) = (text, now)
        bytes = Array(text.utf8)
    }

    /// Whether it is a record's key, or one of the ids of its submission. In a record that is none it may stand anywhere,
    /// as a whole word.
    func stands(in record: InputRecord) -> Bool {
        if record.key == bytes { return true }
        switch SubmissionReading(record, now: now) {
        case .submission(let submission):
            var transactions = [submission.claim.transactionID]
            if case .transactionID(let id) = submission.evidence { transactions.append(id) }
            return stands(in: submission.claimant) || transactions.contains(TransactionID(asked: text))
        case .malformed(let submission): return stands(in: submission.claimant)
        case .unreadable: return stands(in: record.value ?? [])
        }
    }

    /// The id of a record's submission, where it can be read.
    func submission(in record: InputRecord) -> SubmissionID? {
        SubmissionReading(record, now: now).claimant?.submissionID
    }

    private func stands(in claimant: Claimant) -> Bool {
        [claimant.submissionID.rawValue, claimant.userID.rawValue, claimant.orderID?.rawValue].contains(text)
    }

    private func stands(in value: [UInt8]) -> Bool {
        guard let first = bytes.first, value.count >= bytes.count else { return false }
        return value.withUnsafeBufferPointer { value in
            (0...value.count - bytes.count).contains { place in
                let end = place + bytes.count
                return value[place] == first && value[place..<end].elementsEqual(bytes)
                    && (place == 0 || !Self.isPartOfWord(value[place - 1]))
                    && (end == value.count || !Self.isPartOfWord(value[end]) && value[end] != UInt8(ascii: "="))
            }
        }
    }

    /// Characters of ids, and of Base64, in which short ids would be found by chance.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
            true
        default: "-_.+/".utf8.contains(byte)
        }
    }
}

extension QuarantinedRecord {
    /// Whether the fault is a worker's or the ledger's, and not the program's that wrote it.
    fileprivate var isOurs: Bool {
        [QuarantineReason.endsWorkers, .refusedByLedger].map(\.words).contains(reason)
    }
}

extension TopicSearch.Hit {
    fileprivate func text(_ word: String, width: Int?) -> String {
        let (title, sentences, facts) = words
        let found = ["found on \(place)"] + facts + (at.map { ["at \($0.rfc3339)"] } ?? [])
        return PrintableText.singleLine("\(submission?.rawValue ?? word)  \(title)") + "\n"
            + TextParagraph.text(sentences, width)
            + TextParagraph.text(facts: found, width)
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
                        : "Before it at most \(Int(before).of("record of its partition waits", "records of its partition wait")).",
                    "Ask again in a minute. If it still stands here, see grantor workers list and the worker's log.",
                    "Tell the player: \"\(SubmissionWords.whileUnverified)\"",
                ], []
            )
        case .quarantined(let record):
            (
                "quarantined: \(record.reason)",
                [
                    record.isOurs
                        ? "It was submitted, and no worker can decide it: nothing was granted, and no event tells the backend."
                        : "It was submitted, and no worker can read it: nothing was verified, and no event tells the backend.",
                    record.isOurs
                        ? "To do: report it, with this record."
                        : "To do: mend the program that writes such records, and let it submit the purchase again.",
                    "grantor quarantine show \(record.place.text) shows the record.",
                    "Tell the player: \"A fault of ours holds this purchase up. We look into it.\"",
                ], ["came as \(record.origin)"]
            )
        }
    }
}
