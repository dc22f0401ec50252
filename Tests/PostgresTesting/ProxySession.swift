import Foundation

/// One connection of a proxy. The protocol takes turns: all statements up to a Sync, then all replies up to
/// ReadyForQuery.
final class ProxySession: Sendable {
    private let client: Int32
    private let server: Int32
    private let next: @Sendable (_ before: [String], _ now: [String]) -> PostgresProxy.Plan?

    init(
        client: Int32, server: Int32,
        next: @escaping @Sendable (_ before: [String], _ now: [String]) -> PostgresProxy.Plan?
    ) {
        self.client = client
        self.server = server
        self.next = next
    }

    /// Some messages, and whether they are a whole turn: a connection may end before.
    private struct Turn {
        var bytes: [UInt8] = []
        var isWhole = false
        /// The SQL of the statements in it.
        var statements: [String] = []
    }

    func serve() {
        defer {
            for end in [client, server] {
                // A child that was started at the wrong moment may have it, too.
                shutdown(end, Int32(SHUT_RDWR))
                close(end)
            }
        }
        // The first message has no type; its answers end as all others do.
        guard let length = read(4, from: client), let rest = read(Self.count(length) - 4, from: client) else { return }
        send(length + rest, to: server)
        guard answered() else { return }
        var prepared: [String: String] = [:]
        var before: [String] = []
        while true {
            let turn = turn(from: client, through: [UInt8(ascii: "S"), UInt8(ascii: "Q")], &prepared)
            guard turn.isWhole else { return }
            let plan = next(before, turn.statements)
            before = turn.statements
            if plan?.moment == .beforeStatements {
                guard let hold = plan?.hold else { return }
                hold()
            }
            send(turn.bytes, to: server)
            if plan?.moment == .afterStatements {
                let answers = self.turn(from: server, through: [UInt8(ascii: "Z")], &prepared)
                guard let hold = plan?.hold else { return }
                hold()
                send(answers.bytes, to: client)
                guard answers.isWhole else { return }
            } else {
                guard answered() else { return }
            }
        }
    }

    /// Hands a turn of the server's on, also its last words before it ends the connection.
    private func answered() -> Bool {
        var none: [String: String] = [:]
        let answers = turn(from: server, through: [UInt8(ascii: "Z")], &none)
        send(answers.bytes, to: client)
        return answers.isWhole
    }

    /// Messages up to one of a type that ends a turn.
    private func turn(from descriptor: Int32, through types: [UInt8], _ prepared: inout [String: String]) -> Turn {
        var turn = Turn()
        while let head = read(5, from: descriptor),
            let body = read(Self.count(Array(head.dropFirst())) - 4, from: descriptor)
        {
            turn.bytes += head + body
            if descriptor == client { Self.read(head[0], body, &turn.statements, &prepared) }
            guard !types.contains(head[0]) else {
                turn.isWhole = true
                break
            }
        }
        return turn
    }

    /// A Parse names a statement, a Bind the statement that it is for, a Query has its SQL with it.
    private static func read(
        _ type: UInt8, _ body: [UInt8], _ statements: inout [String], _ prepared: inout [String: String]
    ) {
        let texts = body.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        switch type {
        case UInt8(ascii: "P") where texts.count > 1: prepared[texts[0]] = texts[1]
        case UInt8(ascii: "B") where texts.count > 1: statements.append(prepared[texts[1]] ?? "")
        case UInt8(ascii: "Q"): statements.append(texts[0])
        default: break
        }
    }

    private static func count(_ bytes: [UInt8]) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private func read(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var have = 0
        while have < count {
            let more = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: have), count - have, 0)
            }
            guard more > 0 else { return nil }
            have += more
        }
        return bytes
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let more = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return }
            sent += more
        }
    }
}
