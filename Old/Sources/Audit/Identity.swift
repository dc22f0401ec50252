import Crypto
import Foundation
import Purchases

/// 128 bits that stand for an id or for bytes, so that memory goes by the number of things and not by their size.
///
/// Ids of events are UUIDs and stand for themselves. Anything else is cut from a SHA-256: that two things of a ledger fall
/// together by chance is out of the question, and to make two that do takes 2^64 tries.
struct Identity: Hashable, Comparable, Sendable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    private init(bytes: some Sequence<UInt8>) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.prefix(16).enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        (self.high, self.low) = (high, low)
    }

    /// An event, by its id.
    init(_ id: EventID) {
        if let uuid = UUID(uuidString: id.rawValue) {
            self = withUnsafeBytes(of: uuid.uuid) { Identity(bytes: $0) }
        } else {
            self.init(parts: [Array(id.rawValue.utf8)])
        }
    }

    /// A text.
    init(text: String) {
        self.init(parts: [Array(text.utf8)])
    }

    /// Several byte strings in their order, absent ones told from empty ones.
    init(parts: [[UInt8]?]) {
        var hash = SHA256()
        for part in parts {
            // The length in front keeps neighbours from running into each other.
            var length = UInt64(part.map { UInt64($0.count) + 1 } ?? 0).bigEndian
            withUnsafeBytes(of: &length) { hash.update(bufferPointer: $0) }
            if let part { hash.update(data: part) }
        }
        self.init(bytes: hash.finalize())
    }

    /// A record's content: key, value and headers.
    init(key: [UInt8]?, value: [UInt8]?, headers: [EventHeader]) {
        self.init(parts: [key, value] + headers.flatMap { [Array($0.name.utf8), $0.value] })
    }

    /// The UUID that an event's id is.
    var description: String {
        let digits = String(high, radix: 16).leftPadded(to: 16) + String(low, radix: 16).leftPadded(to: 16)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    static func < (left: Identity, right: Identity) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: "0", count: max(0, width - count)) + self
    }
}
