internal import HTTPServer
internal import Scheduling
internal import SimulatorServer

/// Rules that ``RequestReader`` keeps for any bytes, in whatever pieces they come.
enum RequestReaderFuzzing {
    static func run(_ bytes: [UInt8]) throws(BrokenRule) {
        let whole = try events(of: bytes) { $0.count }
        // The bytes themselves seed the cuts, so that a case gives the same ones again.
        var generator = SplitMix64(seed: bytes.reduce(UInt64(bytes.count)) { $0 &* 31 &+ UInt64($1) })
        let cut = try events(of: bytes) { Int.random(in: 1...min($0.count, 64), using: &generator) }
        guard cut == whole else { throw BrokenRule("the events depend on the pieces") }
        guard try events(of: bytes, pieceLength: { _ in 1 }) == whole else {
            throw BrokenRule("the events depend on the pieces")
        }
        try check(whole)
    }

    /// All events of the bytes, in pieces of the lengths that a function says.
    private static func events(
        of bytes: [UInt8], pieceLength: (ArraySlice<UInt8>) -> Int
    ) throws(BrokenRule) -> [RequestReader.Event] {
        var reader = RequestReader()
        var events: [RequestReader.Event] = []
        var rest = bytes[...]
        var bodyBytes = 0
        while !rest.isEmpty {
            let length = pieceLength(rest)
            reader.append(rest.prefix(length))
            rest = rest.dropFirst(length)
            while true {
                let event = reader.next()
                if event == .incomplete { break }
                events.append(event)
                if case .refused = event { return events }
                bodyBytes = if case .head(let head) = event { head.contentLength } else { 0 }
            }
            guard reader.bufferedBytes <= HeadReader.maxHeadBytes + bodyBytes else {
                throw BrokenRule("more than a head and its body is kept")
            }
        }
        return events
    }

    private static func check(_ events: [RequestReader.Event]) throws(BrokenRule) {
        var head: RequestHead?
        for event in events {
            switch (event, head) {
            case (.head(let next), nil):
                try check(next)
                head = next
            case (.request(let request), let last?):
                guard request.head == last, request.body.count == last.contentLength else {
                    throw BrokenRule("a request is not that of its head")
                }
                head = nil
            case (.refused, nil):
                break
            default:
                throw BrokenRule("an event comes out of turn")
            }
        }
    }

    private static func check(_ head: RequestHead) throws(BrokenRule) {
        let names = head.fields.map(\.name)
        guard !names.contains("transfer-encoding"), names.count(where: { $0 == "host" }) <= 1,
            names.count(where: { $0 == "content-length" }) <= 1
        else { throw BrokenRule("where a request ends can be taken in two ways") }
        guard head.fields.count <= HeadReader.maxFields, head.path.hasPrefix("/"), head.contentLength >= 0 else {
            throw BrokenRule("a head has a form that no head may have")
        }
        for field in head.fields {
            guard field.name == field.name.lowercased(), !field.name.isEmpty,
                field.value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" })
            else { throw BrokenRule("a field has characters that no field may have") }
        }
    }
}
