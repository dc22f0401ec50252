import Contract
import Cryptography
import Ledger

/// The name of one thing in 16 bytes: two sides mean the same thing if they have the same key.
///
/// Events are known by their ids, which are UUIDs. Everything else is known by the first half of a SHA-256, so no
/// producer can make two submissions look like one.
struct AuditKey: Hashable, Comparable, Sendable, BitwiseCopyable {
    let high: UInt64
    let low: UInt64

    static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    private init(_ digest: SHA256Digest) {
        (high, low) = digest.withUnsafeBytes { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// An event, by its id; nil for a text that is no UUID.
    init?(event text: some Collection<UInt8>) {
        guard text.count == 36 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.value(ofLowerCase: byte).map({ UInt64($0) }) else { return nil }
            if digits < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
            digits += 1
        }
        self.init(high: words.0, low: words.1)
    }

    init?(_ id: EventID) { self.init(event: id.rawValue.utf8) }

    init(submission key: SubmissionKey, _ bytes: inout AuditBytes) {
        bytes.begin(1)
        bytes.add(key.bundleID.rawValue.utf8)
        bytes.add(key.submissionID.rawValue.utf8)
        self.init(bytes.digest)
    }

    /// A purchase in its environment.
    init(_ reference: GrantReference, _ bytes: inout AuditBytes) {
        bytes.begin(2)
        bytes.add(reference.environment.rawValue.utf8)
        bytes.add(reference.transactionID.rawValue.utf8)
        self.init(bytes.digest)
    }

    /// A partition and offset of the input topic.
    init(_ origin: Origin, _ bytes: inout AuditBytes) {
        bytes.begin(3)
        bytes.add(origin.topic.utf8)
        bytes.add(String(origin.partition).utf8)
        bytes.add(String(origin.offset).utf8)
        self.init(bytes.digest)
    }
}

/// Bytes that are digested, in memory that is used again. Each part comes with its length, so no two lists of parts are
/// the same bytes.
struct AuditBytes: Sendable {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(2_048) }

    mutating func begin(_ kind: UInt8) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(kind)
    }

    mutating func add(_ part: some Collection<UInt8>) {
        add(count: part.count)
        bytes.append(contentsOf: part)
    }

    /// A value that may be missing, which is not the same as an empty one.
    mutating func add(_ part: [UInt8]?) {
        guard let part else { return add(count: -1) }
        add(count: part.count)
        bytes.append(contentsOf: part)
    }

    private mutating func add(count: Int) {
        let count = UInt32(truncatingIfNeeded: count)
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }

    var digest: SHA256Digest { SHA256.hash(bytes) }

    /// The digest of an event to the last byte: key, value and headers. The header of a copy that a repeat asked for is
    /// left out.
    mutating func content(key: [UInt8]?, value: [UInt8]?, headers: some Sequence<RecordHeader>) -> UInt64 {
        begin(4)
        add(key)
        add(value)
        for header in headers where header.name != GrantedEvent.repeatHeader {
            add(header.name.utf8)
            add(header.value)
        }
        return digest.short
    }

    mutating func content(of event: Event) -> UInt64 {
        content(key: event.key, value: event.value, headers: event.headers)
    }
}

extension SHA256Digest {
    /// The first eight bytes, enough to compare two contents of one name.
    var short: UInt64 { withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
}
