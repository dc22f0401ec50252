import Purchases

/// Ids of events as tables hold them: the 16 bytes of a UUID instead of its 36 characters, in rows and indexes alike.
enum EventIDBytes {
    /// Bytes of one id.
    static let count = 16

    /// The ids, one after the other.
    ///
    /// - Throws: `.damaged` for a text that is no UUID, which this program never makes.
    static func encode(_ ids: [EventID]) throws(LedgerError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * count)
        for id in ids {
            guard append(id, to: &bytes) else { throw .damaged("an event's id is no UUID") }
        }
        return bytes
    }

    /// One id; nil if it is no UUID, and so no event's.
    static func encode(_ id: EventID) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        return append(id, to: &bytes) ? bytes : nil
    }

    /// The ids in a column's bytes; what is left over at the end is ignored, as the table's own check refuses it.
    static func decode(_ bytes: [UInt8]) -> [EventID] {
        stride(from: 0, through: bytes.count - count, by: count).map { text(bytes[$0..<$0 + count]) }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> EventID {
        EventID(
            String(unsafeUninitializedCapacity: 36) { text in
                var end = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[end] = UInt8(ascii: "-")
                        end += 1
                    }
                    text[end] = digit(byte >> 4)
                    text[end + 1] = digit(byte & 0x0f)
                    end += 2
                }
                return end
            })
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + (number - 10)
    }

    /// Only the lower-case form with dashes is taken: another would come back as a different text.
    private static func append(_ id: EventID, to bytes: inout [UInt8]) -> Bool {
        var text = id.rawValue
        return text.withUTF8 { utf8 in
            guard utf8.count == 36 else { return false }
            var index = 0
            while index < 36 {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    guard utf8[index] == UInt8(ascii: "-") else { return false }
                    index += 1
                    continue
                }
                guard let high = number(utf8[index]), let low = number(utf8[index + 1]) else { return false }
                bytes.append(high << 4 | low)
                index += 2
            }
            return true
        }
    }

    private static func number(_ digit: UInt8) -> UInt8? {
        let decimal = digit &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = digit &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}
