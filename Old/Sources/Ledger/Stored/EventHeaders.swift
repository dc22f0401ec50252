import Purchases

/// Headers as the outbox stores them: per header the name and the value, each a 32-bit big-endian length and the
/// bytes. An absent value has length 0xFFFFFFFF and no bytes.
enum EventHeaders {
    private static let absent = UInt32.max

    static func encode(_ headers: [EventHeader]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size(of: headers))
        for header in headers {
            append(UInt32(header.name.utf8.count), to: &bytes)
            bytes.append(contentsOf: header.name.utf8)
            append(header.value.map { UInt32($0.count) } ?? absent, to: &bytes)
            bytes.append(contentsOf: header.value ?? [])
        }
        return bytes
    }

    /// Bytes of their encoding.
    static func size(of headers: [EventHeader]) -> Int {
        headers.reduce(0) { $0 + 8 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }

    static func decode(_ bytes: [UInt8]) throws(LedgerError) -> [EventHeader] {
        var rest = bytes[...]
        var headers: [EventHeader] = []
        while !rest.isEmpty {
            let name = try take(try length(&rest), from: &rest)
            let count = try length(&rest)
            let value = count == absent ? nil : Array(try take(count, from: &rest))
            headers.append(EventHeader(name: String(decoding: name, as: UTF8.self), value: value))
        }
        return headers
    }

    private static func append(_ length: UInt32, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: length >> shift))
        }
    }

    private static func length(_ rest: inout ArraySlice<UInt8>) throws(LedgerError) -> UInt32 {
        try take(4, from: &rest).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func take(_ count: UInt32, from rest: inout ArraySlice<UInt8>) throws(LedgerError)
        -> ArraySlice<UInt8>
    {
        guard rest.count >= Int(count) else { throw .damaged("an event's headers cannot be read") }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}
